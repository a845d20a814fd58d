// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from "vitepress";

const guide = (text: string, page: string) => ({ text, link: `/docs/${page}` });

interface Token {
  type: string;
  tag: string;
  attrs: [string, string][] | null;
}

/** The site has pages and pictures; a link to any other file of the repository becomes its words alone. */
function unlinkSources(tokens: Token[]): void {
  let inside = false;
  for (const token of tokens) {
    const href = token.attrs?.find(([name]) => name === "href")?.[1] ?? "";
    if (token.type === "link_open") inside = !/^(\w+:|#)|\.(md|svg|png)(#.*)?$/.test(href);
    if (!inside || !/^link_(open|close)$/.test(token.type)) continue;
    if (token.type === "link_close") inside = false;
    token.type = token.type.replace("link", "words");
    token.tag = "span";
    token.attrs = null;
  }
}

export default defineConfig({
  title: "talosmith",
  description: "A production Kubernetes cluster on Talos Linux from one short, typed file per environment",
  // scripts/build-site.ts lays the pages there as they lie in the repository, so that their links work.
  srcDir: "pages",
  outDir: "../../dist/site",

  // test/docs.test.ts checks that every link of a page leads to a file.
  ignoreDeadLinks: true,
  head: [["script", { src: "/mermaid.min.js", defer: "" }]],
  markdown: {
    // Pages are Markdown alone: what looks like a tag is a word in angle brackets.
    html: false,
    config: (md) => {
      const fence = md.renderer.rules.fence;
      md.renderer.rules.fence = (tokens, index, options, env, self) => {
        const { info = "", content = "" } = tokens[index] ?? {};
        if (info.trim() !== "mermaid") return fence?.(tokens, index, options, env, self) ?? "";
        return `<pre class="mermaid" v-pre>${md.utils.escapeHtml(content)}</pre>`;
      };
      // Indented blocks look like the fenced ones, which scroll where they are wider than the page.
      md.renderer.rules.code_block = (tokens, index, options, env, self) => {
        Object.assign(tokens[index] ?? {}, { info: "txt" });
        return fence?.(tokens, index, options, env, self) ?? "";
      };
      md.core.ruler.push("source-links", ({ tokens }) => {
        for (const { children } of tokens) unlinkSources(children ?? []);
      });
    },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      guide("Documentation", "index"),
      guide("Configuration", "configuration"),
      guide("Commands", "commands"),
      guide("Provider", "provider/index"),
    ],
    sidebar: [
      {
        text: "Start",
        items: [
          guide("Getting started", "getting-started"),
          guide("libvirt at home", "libvirt"),
          guide("AWS for a team", "aws"),
          guide("Metal", "metal"),
          guide("Containers", "containers"),
          guide("Migrating", "migrating"),
          guide("Coming from another tool", "concepts"),
        ],
      },
      {
        text: "Run",
        items: [
          guide("Operations", "operations"),
          guide("Operate", "operate"),
          guide("Kubernetes objects", "kubernetes-native"),
          guide("Metrics", "metrics"),
          guide("Upgrade", "upgrade"),
          guide("Kubernetes upgrade", "kubernetes-upgrade"),
          guide("Supported versions", "versions"),
          guide("Config contract", "contract"),
          guide("Scale", "scale"),
          guide("Backups", "backups"),
          guide("Add-ons", "addons"),
          guide("Secrets", "secrets"),
          guide("CI", "ci"),
          guide("The page in the browser", "ui"),
        ],
      },
      {
        text: "Trouble",
        items: [guide("Troubleshooting", "troubleshooting"), guide("Break glass", "break-glass")],
      },
      {
        text: "Look up",
        items: [
          guide("Quick reference", "quick-reference"),
          guide("Commands", "commands"),
          guide("Environment files", "environments"),
          guide("Configuration", "configuration"),
          guide("Provider", "provider/index"),
          guide("Constructs", "constructs"),
          guide("API", "api"),
          guide("Deploying", "deploying"),
        ],
      },
      {
        text: "Understand",
        items: [
          guide("How Talos works", "how-talos-works"),
          guide("The system in pictures", "system"),
          guide("The engine", "engine"),
          guide("The simulator", "simulator"),
          guide("Compared with talosctl", "talosctl-compatibility"),
          guide("Decisions", "decisions/README"),
          guide("Tried", "tried"),
          guide("Benchmarks", "benchmarks"),
          guide("Reliability", "reliability"),
          guide("Provider tests", "provider-tests"),
          guide("Upgrading talosmith", "upgrading-talosmith"),
          guide("Roadmap", "roadmap"),
        ],
      },
    ],
  },
});
