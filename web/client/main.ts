// SPDX-License-Identifier: Apache-2.0
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Overview } from "../shared/wire.ts";
import { html } from "./html.ts";
import { linkTo, parseRoute, type Route } from "./route.ts";
import { ClusterScreenView } from "./screens/cluster.ts";
import { MachineScreen } from "./screens/machine.ts";
import { OperationsScreen } from "./screens/operations.ts";
import { OverviewScreen } from "./screens/overview.ts";
import { SimulatorScreen } from "./screens/simulator.ts";
import { openSession, watchOverview } from "./server.ts";

function App() {
  const [overview, setOverview] = useState<Overview>();
  const [fault, setFault] = useState<string>();
  const [route, setRoute] = useState<Route>(parseRoute(location.hash));
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const onRoute = () => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", onRoute);
    const timer = setInterval(() => setNow(Date.now()), 1000);
    const unwatch = watchOverview(setOverview, setFault);
    return () => {
      removeEventListener("hashchange", onRoute);
      clearInterval(timer);
      unwatch();
    };
  }, []);
  useEffect(() => {
    document.title = titleOf(route);
  }, [route]);
  const here = (screen: Route["screen"]) => (route.screen === screen ? "page" : undefined);
  return html`
    <header>
      <a href=${linkTo({ screen: "overview" })} aria-current=${here("overview")}><strong>talosmith</strong></a>
      <a href=${linkTo({ screen: "operations" })} aria-current=${here("operations")}>Operations</a>
      <a href=${linkTo({ screen: "simulator" })} aria-current=${here("simulator")}>Simulator</a>
      <span role="status">${fault}</span>
    </header>
    <main>${overview === undefined ? fault === undefined && html`<p class="hint" aria-busy="true">Looking at the clusters …</p>` : screenOf(route, overview, now)}</main>
  `;
}

/** Tabs of a browser tell the clusters apart. */
function titleOf(route: Route): string {
  const about = "machine" in route ? route.machine : "environment" in route ? route.environment : "";
  return [about, route.screen, "talosmith"].filter((part) => part !== "").join(" · ");
}

function screenOf(route: Route, overview: Overview, now: number) {
  const { operations, readOnly, clusters, unseen, program } = overview;
  if (route.screen === "overview") return html`<${OverviewScreen} overview=${overview} now=${now} />`;
  if (route.screen === "operations")
    return html`<${OperationsScreen} operations=${operations} chosen=${route.id} readOnly=${readOnly} now=${now} />`;
  if (route.screen === "simulator") return html`<${SimulatorScreen} overview=${overview} />`;
  const cluster = clusters.find(({ environment }) => environment === route.environment);
  if (cluster === undefined && unseen.includes(route.environment))
    return html`<p class="hint" aria-busy="true">Looking at ${route.environment} …</p>`;
  if (cluster === undefined) return html`<p class="hint">There is no environment ${route.environment}.</p>`;
  if (route.screen === "machine")
    return html`<${MachineScreen} key=${route.machine} cluster=${cluster} machine=${route.machine} readOnly=${readOnly} />`;
  return html`<${ClusterScreenView} key=${route.environment} cluster=${cluster} screen=${route.screen} operations=${operations} readOnly=${readOnly} program=${program} now=${now} />`;
}

const root = document.getElementById("app");
if (root === null) throw new Error("the page has no #app");
openSession().then(
  () => {
    root.textContent = "";
    render(html`<${App} />`, root);
  },
  (error: Error) => {
    root.textContent = error.message;
  },
);
