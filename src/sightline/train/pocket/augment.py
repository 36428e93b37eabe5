"""Random crops and colours, in batches on the device."""

from typing import Any

import torch
from torch.nn import functional as F  # noqa: N812 - the usual name


def crop(images: Any, boxes: Any, side: int, flip: Any) -> Any:
    """Resample a box (x0 y0 x1 y1 in [0, 1]) of each picture to side x side; `flip` mirrors. Pictures are 0-255 floats.

    Where the box is much larger than the output, an area average first keeps fine patterns from aliasing.
    """
    x0, y0, x1, y1 = boxes.unbind(-1)
    x0, x1 = torch.where(flip, x1, x0), torch.where(flip, x0, x1)
    theta = torch.zeros(len(boxes), 2, 3, device=images.device)
    theta[:, 0, 0], theta[:, 0, 2] = x1 - x0, x1 + x0 - 1
    theta[:, 1, 1], theta[:, 1, 2] = y1 - y0, y1 + y0 - 1
    grid = F.affine_grid(theta, [len(boxes), 3, side, side], align_corners=False)
    return F.grid_sample(images, grid, mode="bilinear", padding_mode="reflection", align_corners=False)


def random_boxes(count: int, smallest: float, device: str) -> Any:
    """Random crops of area `smallest` to 1 and aspect 3:4 to 4:3."""
    area = torch.empty(count, device=device).uniform_(smallest, 1)
    aspect = torch.exp(torch.empty(count, device=device).uniform_(-0.3, 0.3))
    w, h = (area * aspect).sqrt().clamp(max=1), (area / aspect).sqrt().clamp(max=1)
    x, y = torch.rand(count, device=device) * (1 - w), torch.rand(count, device=device) * (1 - h)
    return torch.stack([x, y, x + w, y + h], -1)


def loosen(boxes: Any, most: float) -> Any:
    """Move each edge of a box by up to `most` of its size, as imperfect proposals do."""
    size = (boxes[:, 2:] - boxes[:, :2]).repeat(1, 2)
    return (boxes + size * torch.empty_like(boxes).uniform_(-most, most)).clamp(0, 1)


def colours(pixels: Any, strength: float = 0.4, grey: float = 0.1, erase: float = 0.25) -> Any:
    """Brightness, contrast, saturation, a cast, now and then no colour at all, and a patch wiped out."""
    n = len(pixels)

    def factor(amount: float) -> Any:
        return torch.empty(n, 1, 1, 1, device=pixels.device).uniform_(1 - amount, 1 + amount)

    x = pixels * factor(strength)
    mean = x.mean((1, 2, 3), keepdim=True)
    x = (x - mean) * factor(strength) + mean
    grey_x = x.mean(1, keepdim=True)
    saturation = torch.where(torch.rand(n, 1, 1, 1, device=x.device) < grey, 0.0, factor(strength))
    x = (x - grey_x) * saturation + grey_x
    x = x * torch.empty(n, 3, 1, 1, device=x.device).uniform_(0.9, 1.1)
    if erase:
        side = x.shape[-1]
        step = (torch.arange(side, device=x.device) + 0.5) / side
        half = torch.empty(n, 2, 1, device=x.device).uniform_(0.05, 0.2)
        centre = torch.rand(n, 2, 1, device=x.device)
        inside = (step - centre).abs() < half
        patch = inside[:, 0, :, None] & inside[:, 1, None, :] & (torch.rand(n, 1, 1, device=x.device) < erase)
        x = torch.where(patch[:, None], mean, x)
    return x.clamp(0, 255)
