// SPDX-License-Identifier: Apache-2.0
import { callFunction as answer, argumentTypes, FunctionError, type Server } from "../../framework/index.ts";
import { fromDynamicValue, toDynamicValue } from "../dynamic-value.ts";
import { CallFunctionRequest, CallFunctionResponse, type CallFunctionResponse as Response } from "../gen/tfplugin6.ts";
import type { Rpc } from "../unary.ts";

/** The one RPC that has an error of its own in place of diagnostics. */
export const callFunction: Rpc = async (server, bytes) =>
  CallFunctionResponse.encode(await call(server, CallFunctionRequest.decode(bytes))).finish();

async function call(server: Server, request: CallFunctionRequest): Promise<Response> {
  try {
    const definition = server.function(request.name);
    const types = argumentTypes(definition, request.arguments.length);
    const values = types.map((type, index) => fromDynamicValue(type, request.arguments[index]));
    const result = await answer(server, request.name, values);
    return { result: toDynamicValue(definition.returns, result), error: undefined };
  } catch (error) {
    const argument = error instanceof FunctionError ? error.argument : undefined;
    const text = error instanceof FunctionError ? error.message : server.diagnosticOf(error).detail;
    return {
      result: undefined,
      error: argument === undefined ? { text } : { text, functionArgument: BigInt(argument) },
    };
  }
}
