// SPDX-License-Identifier: Apache-2.0
import { serve } from "../../provider/protocol/index.ts";
import { temporaryFolder } from "../../talos/process-folder.ts";
import { thingProvider } from "./thing-provider.ts";

const patience = process.env.THING_PATIENCE;
const socketFolder = (parent: string) => temporaryFolder("provider", parent);
serve(thingProvider, { socketFolder, ...(patience === undefined ? {} : { patience: Number(patience) }) });
