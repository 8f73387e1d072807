"""Facts about the tables: their files, output columns, categories and sources.

The paper does not describe how it encoded categories or treated missing values.  The encodings here
are the simplest that give its numbers of inputs and outputs.  Files are comma separated, and their
first line contains the column names.  An empty field is a missing value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
LETTERS = ("A", "B", "C", "D", "E")

#: Source of both wine tables.
CORTEZ_2009 = (
    "Cortez, Cerdeira, Almeida, Matos, Reis (2009), Decision Support Systems 47(4); "
    "UCI, doi 10.24432/C56S3T; CC BY 4.0"
)


@dataclass(frozen=True)
class Entry:
    """Facts about one table, known without its file."""

    file: str
    size: int  # bytes
    sha256: str
    targets: tuple[str, ...]
    source: str
    n_train: int | None = None  # training samples in the paper's Table 1
    unused: tuple[str, ...] = ()  # columns that are neither input nor output
    codes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # categories coded 1, 2, ...


CATALOGUE: dict[str, Entry] = {
    "Housing": Entry(
        "boston_housing.csv",
        41359,
        "ebf8b4a9ceaf375f9591be7b862b3eafc6efc952251e77f09dd6c2df9e216ba0",
        targets=("MEDV",),
        n_train=100,
        source="Harrison and Rubinfeld (1978), J. Environ. Economics and Management 5, 81-102; "
        "StatLib, no licence stated",
    ),
    "Auto MPG": Entry(
        "auto_mpg.csv",
        20385,
        "e264fd39f054f2dd368d2ba058906befeeda0b51fd2b23922f5c133135171ad4",
        targets=("mpg",),
        unused=("car_name",),
        n_train=100,
        source="Quinlan (1993), from StatLib, 1983 ASA Exposition; "
        "UCI, doi 10.24432/C5859H; CC BY 4.0",
    ),
    "Servo": Entry(
        "servo.csv",
        3049,
        "9ebb659d324f607903848871419aa41f1ccca3615abfd8843dc07e0387fea187",
        targets=("class",),
        codes={"motor": LETTERS, "screw": LETTERS},
        n_train=50,
        source="Ulrich (1986), donated by Quinlan; UCI, doi 10.24432/C5Q30F; CC BY 4.0",
    ),
    "Yacht": Entry(
        "yacht_hydrodynamics.csv",
        11571,
        "0f076fe825b9df72135d8e84095523323e4347dac78045298f62d71b2d1442db",
        targets=("residuary_resistance",),
        n_train=80,
        source="Gerritsma, Onnink, Versluis (1981), Delft; UCI, doi 10.24432/C5XG7R; CC BY 4.0",
    ),
    "Physicochem": Entry(
        "casp_protein.csv.gz",
        1655268,
        "7a53d7b8ccac466197a08146a49d56b30f242493ea82887cf7b35c9161246ef1",
        targets=("RMSD",),
        n_train=500,
        source="Rana (2013), tertiary structure of proteins, CASP 5-9; "
        "UCI, doi 10.24432/C5QW3H; CC BY 4.0",
    ),
    "White Wine": Entry(
        "wine_quality_white.csv",
        264402,
        "0f9b72c6f593bd8b91edc4f5584f0939849e843c3584a4a2fa5b6f2e25be5277",
        targets=("quality",),
        n_train=400,
        source=CORTEZ_2009,
    ),
    "Red Wine": Entry(
        "wine_quality_red.csv",
        84175,
        "228372b9c106bcbb50ce14bb616873495975bd761d2641cfd02900427f1ff8be",
        targets=("quality",),
        n_train=300,
        source=CORTEZ_2009,
    ),
    "Forest Fires": Entry(
        "forest_fires.csv",
        25478,
        "0d6586a1fa52f55bef48578aef14eb97273f1e9330e1a53423df497a77065253",
        targets=("area",),
        codes={"month": MONTHS, "day": DAYS},
        n_train=100,
        source="Cortez and Morais (2007); UCI, doi 10.24432/C5D88D; CC BY 4.0",
    ),
    "Concrete": Entry(
        "concrete.csv",
        48376,
        "469b3c84ff7510b7829afab1857d0146d1ce050ec70cc12dc3ef6bfc2c53e89a",
        targets=("compressive_strength",),
        n_train=300,
        source="Yeh (1998), Cement and Concrete Research 28(12); "
        "UCI, doi 10.24432/C5PK67; CC BY 4.0",
    ),
    "Energy": Entry(
        "energy_efficiency.csv",
        33635,
        "93ef7d84df586c5ff8efe56be9b9248c6a350e67d2cd9c44466f2de6c126408c",
        targets=("Y1_heating_load", "Y2_cooling_load"),
        n_train=200,
        source="Tsanas and Xifara (2012), Energy and Buildings 49; "
        "UCI, doi 10.24432/C51307; CC BY 4.0",
    ),
    # The paper gives only the name "Stock", seven inputs and two outputs.  This table is a guess.
    "Stock": Entry(
        "istanbul_stock.csv",
        63567,
        "20c02cac6882c88fad3cf12953d939437d1306dc7f54c0227e23acf6c9d6d2e6",
        targets=("ISE_TL", "ISE_USD"),
        unused=("date",),
        n_train=100,
        source="Akbilgic, Bozdogan, Balaban (2013), Statistics and Computing 24; "
        "UCI, doi 10.24432/C54P4J; CC BY 4.0",
    ),
    "Bone Mineral Density": Entry(
        "bone_mineral_density.csv",
        12630,
        "7739190bce33078463051b77c805a03b0819986813b66d3768a9566652a8a8b1",
        targets=("spnbmd",),
        unused=("idnum", "gender"),
        source="Bachrach, Hastie, Wang, Narasimhan, Marcus (1999), "
        "J. Clin. Endocrinol. Metab. 84, 4702-12; R package ElemStatLearn, GPL (>= 2)",
    ),
    "Old Faithful": Entry(
        "old_faithful.csv",
        2293,
        "35755e109446ec911891b1eae5cb33bc2f18367ce712145e4f9d27d19f575bad",
        targets=("waiting",),
        source="Azzalini and Bowman (1990), Applied Statistics 39, as in R (datasets::faithful); "
        "GPL-2 or GPL-3",
    ),
}

_ARPHIC = (
    "Make Me a Hanzi, from the fonts Arphic PL KaitiM GB and Arphic PL UKai, as packed in "
    "hanzi-writer-data 2.0.1; Arphic Public License"
)
#: Outlines and medians of the strokes of forty characters, and their licence.
STROKES = Entry(
    "brush_strokes/hanzi_strokes.json",
    60045,
    "86bd29f9129b2511e528def5800d0265ae721a5259313dc8757fe423989680ec",
    targets=(),
    source=_ARPHIC,
)
STROKES_LICENCE = Entry(
    "brush_strokes/ARPHICPL.TXT",
    6900,
    "5590533436c70f10f2f524ee61456238c290175c6662fbe1c700b5f038a6d328",
    targets=(),
    source=_ARPHIC,
)
