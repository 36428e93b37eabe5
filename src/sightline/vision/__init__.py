"""Pictures, loaded safely, and the regions worth looking at. Knows nothing of text."""

from sightline.vision.pictures import Picture, Pictures
from sightline.vision.regions import RegionSource, load_regions, region_sources

__all__ = ["Picture", "Pictures", "RegionSource", "load_regions", "region_sources"]
