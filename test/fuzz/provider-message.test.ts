// SPDX-License-Identifier: Apache-2.0
import { providerMessageTarget } from "./targets/provider-message.ts";
import { withstands } from "./withstands.ts";

withstands(providerMessageTarget);
