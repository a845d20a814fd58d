// SPDX-License-Identifier: Apache-2.0
import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme";

interface Mermaid {
  initialize(options: object): void;
  run(): Promise<void>;
}

/** Draws the diagrams of the page that is shown; the library comes from this site itself. */
async function draw(): Promise<void> {
  const { mermaid } = globalThis as { readonly mermaid?: Mermaid };
  if (mermaid === undefined) return;
  const dark = document.documentElement.classList.contains("dark");
  mermaid.initialize({ startOnLoad: false, theme: dark ? "dark" : "default" });
  await mermaid.run();
}

const theme: Theme = {
  extends: DefaultTheme,
  enhanceApp({ router }) {
    if (typeof window === "undefined") return;
    window.addEventListener("load", () => void draw());
    router.onAfterRouteChange = () => void setTimeout(draw);
  },
};

export default theme;
