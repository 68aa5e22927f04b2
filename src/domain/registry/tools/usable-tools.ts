import type { TemplateFiles } from '#domain/sources/files.ts';
import {
  type EmptyDemand,
  type FilesTools,
  intersectDemand,
  isEmptyDemand,
  type ToolDemand,
} from '#domain/tools/demand.ts';
import { type ToolName, toolNames } from '#domain/tools/model.ts';
import type { TemplateSpec } from '../spec.ts';
import { readFilesTools } from './files-tools.ts';

/** Finds the tools that may run a version, by its spec and files. An environment or an instance may demand more. Pure. */

/** The members of a spec that concern its tool. */
export type ToolChoice = Pick<TemplateSpec, 'executor' | 'tool'>;

/** The requirements of a version's files for their tool; commands have none. */
export function filesToolsOf({ executor }: Pick<TemplateSpec, 'executor'>, files: TemplateFiles): FilesTools {
  return executor.kind === 'command' ? readFilesTools({}) : readFilesTools(files, executor.git?.path);
}

/** The tools that may run a version wherever it runs; null: its steps need none. */
export function demandOf({ executor, tool }: ToolChoice, files: FilesTools): ToolDemand | EmptyDemand | null {
  if (executor.kind === 'command') return null;
  return intersectDemand({ files, wanted: [{ by: 'template', tool }], writer: null });
}

/** The kinds of tools that may run a version. Empty: its steps need none, or no tool can run it. */
export function toolsThatMayRun(spec: ToolChoice, files: FilesTools): ToolName[] {
  const demand = demandOf(spec, files);
  if (demand === null || isEmptyDemand(demand)) return [];
  return toolNames.filter((name) => demand[name] !== undefined);
}
