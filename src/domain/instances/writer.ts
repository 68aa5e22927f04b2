import type { StateWriter } from '#domain/tools/demand.ts';
import type { Instance } from './entity.ts';

/** The tool that must go on from the state of an instance; null if there is none, or neither resources nor outputs are left in it. */
export function writerOf({
  tool,
  toolVersion,
  stateSerial,
  resourceCount,
  outputs,
}: Pick<Instance, 'tool' | 'toolVersion' | 'stateSerial' | 'resourceCount' | 'outputs'>): StateWriter | null {
  const isEmptied = stateSerial > 0 && resourceCount === 0 && Object.keys(outputs).length === 0;
  return tool && !isEmptied ? { name: tool, version: toolVersion ?? null } : null;
}

/** Later runs go on from the state with the same kind of tool, and with none that is older. The instance is locked. */
export function recordWriter(instance: Instance, tool: { readonly name: string; readonly version: string }): void {
  instance.tool = tool.name;
  instance.toolVersion = tool.version;
}
