"""Short phrases for regions: how captions call the things that boxes mark. By rules: training needs no parser."""

import re
from collections.abc import Iterable, Sequence

COCO_CLASSES: tuple[str, ...] = tuple(
    """person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic light, fire hydrant,
    stop sign, parking meter, bench, bird, cat, dog, horse, sheep, cow, elephant, bear, zebra, giraffe,
    backpack, umbrella, handbag, tie, suitcase, frisbee, skis, snowboard, sports ball, kite, baseball
    bat, baseball glove, skateboard, surfboard, tennis racket, bottle, wine glass, cup, fork, knife,
    spoon, bowl, banana, apple, sandwich, orange, broccoli, carrot, hot dog, pizza, donut, cake, chair,
    couch, potted plant, bed, dining table, toilet, tv, laptop, mouse, remote, keyboard, cell phone,
    microwave, oven, toaster, sink, refrigerator, book, clock, vase, scissors, teddy bear, hair drier,
    toothbrush""".replace("\n", " ").split(", ")
)
COCO_CLASSES = tuple(" ".join(name.split()) for name in COCO_CLASSES)

SAID_AS: dict[str, str] = {
    "person": "man woman boy girl child kid lady guy person player skier surfer rider skateboarder snowboarder baby"
    " toddler men women people children boys girls kids players batter catcher pitcher umpire swimmer cyclist biker"
    " hiker climber dancer runner couple crowd",
    "bicycle": "bicycle bike bicycles bikes",
    "car": "car cars taxi suv van",
    "motorcycle": "motorcycle motorbike motorcycles scooter",
    "airplane": "airplane plane jet airplanes planes airliner",
    "bus": "bus buses",
    "train": "train trains locomotive",
    "truck": "truck trucks pickup",
    "boat": "boat boats ship canoe kayak sailboat",
    "traffic light": "light lights signal",
    "fire hydrant": "hydrant",
    "stop sign": "sign",
    "parking meter": "meter meters",
    "bench": "bench benches",
    "bird": "bird birds seagull duck ducks pigeon parrot owl",
    "cat": "cat cats kitten",
    "dog": "dog dogs puppy puppies",
    "horse": "horse horses pony",
    "sheep": "sheep lamb lambs",
    "cow": "cow cows bull cattle",
    "elephant": "elephant elephants",
    "bear": "bear bears",
    "zebra": "zebra zebras",
    "giraffe": "giraffe giraffes",
    "backpack": "backpack backpacks",
    "umbrella": "umbrella umbrellas",
    "handbag": "bag handbag purse",
    "tie": "tie",
    "suitcase": "suitcase suitcases luggage",
    "frisbee": "frisbee disc",
    "skis": "skis",
    "snowboard": "snowboard",
    "sports ball": "ball",
    "kite": "kite kites",
    "baseball bat": "bat",
    "baseball glove": "glove mitt",
    "skateboard": "skateboard",
    "surfboard": "surfboard board",
    "tennis racket": "racket racquet",
    "bottle": "bottle bottles",
    "wine glass": "glass glasses",
    "cup": "cup cups mug",
    "bowl": "bowl bowls",
    "banana": "banana bananas",
    "apple": "apple apples",
    "sandwich": "sandwich sandwiches burger",
    "orange": "orange oranges",
    "broccoli": "broccoli",
    "carrot": "carrot carrots",
    "hot dog": "hotdog hotdogs",
    "pizza": "pizza pizzas",
    "donut": "donut donuts doughnut doughnuts",
    "cake": "cake cakes cupcake",
    "chair": "chair chairs",
    "couch": "couch sofa",
    "potted plant": "plant plants flower flowers",
    "bed": "bed beds",
    "dining table": "table desk",
    "toilet": "toilet toilets",
    "tv": "tv television screen monitor",
    "laptop": "laptop laptops computer",
    "remote": "remote controller",
    "keyboard": "keyboard",
    "cell phone": "phone cellphone",
    "microwave": "microwave",
    "oven": "oven stove",
    "sink": "sink",
    "refrigerator": "refrigerator fridge",
    "book": "book books",
    "clock": "clock clocks",
    "vase": "vase vases",
    "teddy bear": "teddy bears",
}
CLASS_OF: dict[str, int] = {
    word: COCO_CLASSES.index(name) for name, words in SAID_AS.items() for word in words.split()
}

_OPENERS = frozenset(
    "a an the two three four five some several many his her their its this that another one group".split()
)
STOPS = frozenset(
    "is are was were and or with of in on at to by while as who which that has have holding wearing "
    "riding sitting standing walking running jumping playing looking from for over near next into up "
    "down through behind under".split()
)


def phrases_of(caption: str) -> list[tuple[str, int]]:
    """Phrases that name a COCO class, with the class: from the opening article to the head noun, five words at most."""
    words = re.findall(r"[a-z]+(?:-[a-z]+)*", caption.lower())
    found = []
    for place, word in enumerate(words):
        if word not in CLASS_OF:
            continue
        start = place
        while (
            start > 0 and place - start < 4 and words[start - 1] not in STOPS and words[start] not in _OPENERS
        ):
            start -= 1
        found.append((" ".join(words[start : place + 1]), CLASS_OF[word]))
    return found


def content_words(captions: Iterable[Sequence[str]], most: int) -> list[str]:
    """The words that stand in most images' captions, function words left out."""
    count: dict[str, int] = {}
    for group in captions:
        for word in {w for caption in group for w in re.findall(r"[a-z]+", caption.lower())}:
            count[word] = count.get(word, 0) + 1
    skip = STOPS | _OPENERS | frozenset("it there he she they be being been them him it's s t very".split())
    ranked = sorted((w for w in count if w not in skip and len(w) > 2), key=lambda w: (-count[w], w))
    return ranked[:most]
