// SPDX-License-Identifier: Apache-2.0
import { serve } from "../../provider/protocol/index.ts";
import { thingProvider } from "./thing-provider.ts";

serve(thingProvider);
