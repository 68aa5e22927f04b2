import type { StateWriter } from '#domain/tools/demand.ts';
import type { Instance } from './entity.ts';

/**
 * The tool that wrote the state of an instance and that must continue from it; null if there is none, or if the state contains neither
 * resources nor outputs.
 */
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

/**
 * Records the tool that wrote the state: later runs must use the same kind of tool, in this version or a newer one. The caller has locked
 * the instance.
 */
export function recordWriter(instance: Instance, tool: { readonly name: string; readonly version: string }): void {
  instance.tool = tool.name;
  instance.toolVersion = tool.version;
}

/** Removes the mark that an instance may differ from its last deployment. The caller has locked the instance. */
export function clearUnrecorded(instance: Instance): void {
  if (instance.unrecordedRunId === null) return;
  instance.revision += 1;
  instance.unrecordedRunId = null;
  instance.unrecordedAt = null;
}
