"""Take the pictures of two gallery pages again, with Chromium: python docs/_static/gallery.py.

After ``make docs``; the pages are cut below their first pictures.
"""

import shutil
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
PAGES = HERE.parent / "_build" / "html" / "auto_examples"
SHOWN = {"first_look": "light", "control": "dark"}


def picture(page: Page, path: Path) -> None:
    """The page down to the end of its first picture."""
    figure = page.locator("img.sphx-glr-single-img").first.bounding_box()
    assert figure is not None
    height = int(figure["y"] + figure["height"] + 40)
    page.set_viewport_size({"width": 1280, "height": height})
    page.screenshot(path=path)
    small = Image.open(path).convert("RGB").resize((960, height * 960 // 1280))
    small.quantize(256).save(path, optimize=True)


def main() -> None:
    """One page in either theme."""
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for name, theme in SHOWN.items():
            page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=theme)
            page.goto((PAGES / f"plot_{name}.html").as_uri())
            page.wait_for_load_state()
            picture(page, HERE / f"gallery-{name.replace('_', '-')}-{theme}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
