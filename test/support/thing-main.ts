// SPDX-License-Identifier: Apache-2.0
import { serve } from "../../provider/protocol/index.ts";
import { thingProvider } from "./thing-provider.ts";

const patience = process.env.THING_PATIENCE;
serve(thingProvider, patience === undefined ? {} : { patience: Number(patience) });
