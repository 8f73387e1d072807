"""Take the pictures of the explorer again, with Chromium: python docs/_static/explorer.py."""

import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from condensity import LSCE
from condensity.explorer import write_report

HERE = Path(__file__).parent
NAMES = {
    "sex": "sex",
    "age": "age",
    "bp": "blood pressure",
    "s1": "total cholesterol",
    "s2": "low-density lipoproteins",
    "s3": "high-density lipoproteins",
    "s4": "cholesterol ratio",
    "s5": "log triglycerides",
    "s6": "blood sugar",
}


def report(path: Path) -> Path:
    """Two outputs, disease progression and body mass, given the other nine measurements."""
    frame = load_diabetes(as_frame=True, scaled=False).frame.rename(columns=NAMES)
    outputs = frame[["target", "bmi"]].rename(
        columns={"target": "disease progression", "bmi": "body mass index"}
    )
    inputs = frame[list(NAMES.values())]
    X, X_test, y, y_test = train_test_split(inputs, outputs, test_size=142, random_state=0)
    model = LSCE(2, n_members=5, n_starts=2, random_state=0).fit(X, y)
    title = "Diabetes: progression and body mass"
    return write_report(model, path, X=X, y=y, X_test=X_test, y_test=y_test, title=title)


def pose(page: Page) -> None:
    """Two points pinned, and a third that is moved by hand."""
    triglycerides = page.get_by_label("log triglycerides").first
    for value, button in (("4", "Pin A"), ("5.6", "Pin B"), ("5", None)):
        triglycerides.fill(value)
        page.wait_for_timeout(300)
        if button:
            page.get_by_role("button", name=button).click()
    triglycerides.blur()
    page.wait_for_timeout(300)


def main() -> None:
    """Both widths, both themes."""
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = report(Path(folder) / "report.html")
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for width in (1280, 390):
            for theme in ("light", "dark"):
                size = {"width": width, "height": 844}
                page = browser.new_page(viewport=size, color_scheme=theme)
                page.goto(path.as_uri())
                pose(page)
                page.evaluate("window.scrollTo(0, 0)")
                name = HERE / f"explorer-{width}-{theme}.png"
                page.screenshot(path=name, full_page=True)
                Image.open(name).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
                    name, optimize=True
                )
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
