import type { Em } from '#database/database.ts';
import type { Instance } from '#domain/instances/entity.ts';
import type { TemplateSpec } from '#domain/registry/spec.ts';
import type { AllowedTools } from '#domain/settings/document.ts';
import { readSettings, shareSettings } from '#domain/settings/store.ts';
import { isToolAllowed } from '#domain/settings/tools.ts';
import type { Run } from '../../entity.ts';
import { findUnknownOption } from '../../options/model.ts';

/** A tool that a worker has, in the version that it has. */
export interface WorkerTool {
  readonly name: string;
  readonly version: string;
}

/** What the choice of a tool depends on. */
interface Demand {
  readonly run: Pick<Run, 'tool' | 'operation' | 'options'>;
  readonly spec: Pick<TemplateSpec, 'executor'>;
  /** The kind of tool that wrote the state of the instance. */
  readonly writtenBy: Instance['tool'];
}

/** Whether a run may use a tool that its worker has: one of the kind that wrote the state, in a version that is allowed. */
export function isUsable(
  tool: WorkerTool,
  { writtenBy, allowed }: { writtenBy: string | null | undefined; allowed: AllowedTools | undefined },
): boolean {
  return (!writtenBy || tool.name === writtenBy) && isToolAllowed(allowed, tool);
}

/**
 * The first tool of a worker that the run may use at this moment: `needless` for commands, undefined if the worker has none. A run keeps the tool of
 * its plan. The settings stay shared until the commit, so nothing is planned with a tool that was forbidden before.
 */
export async function chooseToolOfClaim(
  em: Em,
  tools: readonly WorkerTool[],
  { run, spec, writtenBy }: Demand,
): Promise<WorkerTool | 'needless' | undefined> {
  if (spec.executor.kind === 'command') return 'needless';
  if (run.tool) return run.tool;
  if (isBoundBySettings(run)) await shareSettings(em);
  const allowed = await readAllowedTools(em, run);
  const usable = tools.filter((tool) => isUsable(tool, { writtenBy, allowed }));
  // If none knows the options of the run, its attempt says so by name.
  return usable.find((tool) => findUnknownOption(run.options ?? null, tool) === null) ?? usable[0];
}

/** A run keeps the tool of its plan. What exists can be looked at and removed by whatever made it. */
function isBoundBySettings({ tool, operation }: Demand['run']): boolean {
  return !tool && operation !== 'scan' && operation !== 'destroy';
}

/** The tools that the settings allow a run. Undefined: all. */
export async function readAllowedTools(em: Em, run: Demand['run']): Promise<AllowedTools | undefined> {
  return isBoundBySettings(run) ? (await readSettings(em)).document.allowed_tools : undefined;
}
