// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";

// That a change is noticed is all that counts here; nobody reads the smallest example of it.
fc.configureGlobal({ endOnFailure: true });
