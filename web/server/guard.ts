// SPDX-License-Identifier: Apache-2.0
import { createHash, timingSafeEqual } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { secureHeaders } from "hono/secure-headers";
import * as z from "zod";

const tokenBody = z.object({ token: z.string() });

/** Pages of other origins cannot send it without asking first, and we never allow that. */
const requestHeader = "x-talosmith";

export interface GuardOptions {
  /** The `Host` headers that are ours: `127.0.0.1:8080` and its other names. */
  readonly hosts: ReadonlySet<string>;
  /** Given to whoever may come in, once. */
  readonly token: string;
  readonly newSession: () => string;
  readonly readOnly: boolean;
}

/** Somebody follows a link to the page, such as the file that `talosmith ui` opens. The page alone tells nothing. */
function isArrival({ req }: Context): boolean {
  const [mode, target] = [req.header("sec-fetch-mode"), req.header("sec-fetch-dest")];
  return req.method === "GET" && req.path === "/" && mode === "navigate" && target === "document";
}

/** Who may ask what. A name that was rebound to us, another origin or a stranger gets nothing but the empty page. */
export class Guard {
  readonly #options: GuardOptions;
  #token: string | undefined;
  readonly #sessions = new Set<string>();

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#token = options.token;
  }

  /** For every request: the right host, and for what changes anything the right origin and our header. */
  readonly checkRequest: MiddlewareHandler = async (context, next) => {
    const host = context.req.header("host") ?? "";
    if (!this.#options.hosts.has(host)) return context.json({ error: "this host name is not ours" }, 421);
    const site = context.req.header("sec-fetch-site");
    if (site !== undefined && site !== "same-origin" && site !== "none" && !isArrival(context))
      return context.json({ error: "requests of other sites are refused" }, 403);
    const origin = context.req.header("origin");
    if (origin !== undefined && origin !== `http://${host}`)
      return context.json({ error: "requests of other origins are refused" }, 403);
    if (context.req.method !== "GET" && context.req.method !== "HEAD") {
      if (origin === undefined) return context.json({ error: "an Origin header is needed" }, 403);
      if (context.req.header(requestHeader) === undefined)
        return context.json({ error: `the header ${requestHeader} is needed` }, 403);
    }
    return next();
  };

  /** For everything that tells something: only after the token was shown. */
  readonly checkSession: MiddlewareHandler = async (context, next) => {
    if (!this.#hasSession(context)) return context.json({ error: "open the address that talosmith ui printed" }, 401);
    return next();
  };

  /** For everything that changes something. */
  readonly checkWritable: MiddlewareHandler = async (context, next) => {
    if (this.#options.readOnly) return context.json({ error: "this page is read-only" }, 403);
    return next();
  };

  /**
   * Turns the token into a session. It works once: a token that leaked into a history is worth nothing, but for who has
   * the session already.
   */
  readonly openSession: MiddlewareHandler = async (context) => {
    if (this.#hasSession(context)) return context.body(null, 204);
    const { data } = tokenBody.safeParse(await context.req.json<unknown>().catch(() => undefined));
    const expected = this.#token;
    if (expected === undefined || data === undefined || !sameText(data.token, expected))
      return context.json({ error: "this token is wrong or was used; start talosmith ui again" }, 401);
    this.#token = undefined;
    const session = this.#options.newSession();
    this.#sessions.add(digest(session));
    setCookie(context, cookieName(context), session, { httpOnly: true, sameSite: "Strict", path: "/" });
    return context.body(null, 204);
  };

  #hasSession(context: Context): boolean {
    const session = getCookie(context, cookieName(context));
    return session !== undefined && this.#sessions.has(digest(session));
  }
}

/** With our port, which browsers do not look at: the pages of two projects would take each other's cookies away. */
function cookieName(context: Context): string {
  return `talosmith-session-${new URL(`http://${context.req.header("host")}`).port || "80"}`;
}

const digest = (text: string) => createHash("sha256").update(text).digest("hex");

function sameText(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(digest(a)), Buffer.from(digest(b)));
}

/** What browsers put into the `Host` header of a request to us: in lower case, and without a port that goes without saying. */
export function hostNames(host: string, port: number): ReadonlySet<string> {
  const names = [host.includes(":") ? `[${host}]` : host, "127.0.0.1", "localhost", "[::1]"];
  return new Set(names.map((name) => new URL(`http://${name}:${port}`).host));
}

/** Nothing from outside, nothing inline, in nobody's frame. */
export const pageHeaders = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'"],
    connectSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
  crossOriginResourcePolicy: "same-origin",
  crossOriginOpenerPolicy: "same-origin",
  referrerPolicy: "no-referrer",
  xFrameOptions: "DENY",
  // Served over plain HTTP on loopback.
  strictTransportSecurity: false,
});
