// SPDX-License-Identifier: Apache-2.0
import { secureHeaders } from "hono/secure-headers";

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
