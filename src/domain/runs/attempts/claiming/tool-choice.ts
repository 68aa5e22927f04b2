import type { Em } from '#database/database.ts';
import { Instance } from '#domain/instances/entity.ts';
import { writerOf } from '#domain/instances/writer.ts';
import { loadVersionById } from '#domain/registry/publication/published.ts';
import type { AllowedTools } from '#domain/settings/allowed-tools.ts';
import { readSettings, shareSettings } from '#domain/settings/store.ts';
import { isToolAllowed } from '#domain/settings/tools.ts';
import { bestMeant, bestOf, mayFollow, meetsDemand, type StateWriter, toWantedTools } from '#domain/tools/demand.ts';
import { toolNames, type VersionedTool } from '#domain/tools/model.ts';
import { findLiveWorkers, isContainedEnough, type LiveWorker } from '#domain/workers/placement-store.ts';
import type { Run } from '../../entity.ts';
import { findUnknownOption } from '../../options/model.ts';

type RunOfTool = Pick<
  Run,
  'id' | 'tool' | 'operation' | 'options' | 'toolDemand' | 'toolSwitch' | 'templateVersionId' | 'instanceId'
>;

/** Which tools a run may use at this moment. Null: its steps need none. */
export interface ToolRules {
  /** The tool of the run's plan, which the run keeps; null before it has planned. */
  readonly pinned: VersionedTool | null;
  readonly isUsable: (tool: VersionedTool) => boolean;
  /** The best of some usable tools. */
  readonly bestOf: (tools: readonly VersionedTool[]) => VersionedTool | undefined;
  /** Whether a tool knows the options of the run. If no tool does, the attempt fails and names the option. */
  readonly knowsOptions: (tool: VersionedTool) => boolean;
  /** The usable tools, for people and clients; empty if every tool is usable. */
  readonly wanted: { name: string; version: string }[];
}

/** Reads the rules for a run: what it was admitted with, the state of its instance now, and the settings. */
export async function readToolRules(em: Em, run: RunOfTool): Promise<ToolRules | null> {
  const { spec } = await loadVersionById(em, run.templateVersionId);
  if (spec.executor.kind === 'command') return null;
  const { tool: pinned = null } = run;
  if (pinned)
    return {
      pinned,
      isUsable: (tool) => isSame(tool, pinned),
      bestOf,
      knowsOptions: () => true,
      wanted: [{ name: pinned.name, version: pinned.version }],
    };
  const [instance, allowed] = await Promise.all([
    em.findOneOrFail(Instance, { id: run.instanceId }),
    readAllowedTools(em, run),
  ]);
  const demand = run.toolDemand ?? null;
  const writer = followedBy(run, writerOf(instance));
  return {
    pinned,
    isUsable: (tool) => meetsDemand(demand, tool) && mayFollow(writer, tool) && isToolAllowed(allowed, tool),
    bestOf: (tools) => bestMeant(demand, tools),
    knowsOptions: (tool) => findUnknownOption(run.options ?? null, tool) === null,
    wanted: describeWanted(run, writer),
  };
}

/**
 * The tool of an attempt that a worker claims: `needless` for commands, undefined if another worker must take it. The highest version among
 * all live workers that may execute the run is chosen, even if another worker is first. A run keeps the very tool of its plan. The settings
 * stay shared until the commit, so nothing is planned with a tool that was forbidden before.
 */
export async function chooseToolOfClaim(
  em: Em,
  { workerId, tools }: { readonly workerId: string; readonly tools: readonly VersionedTool[] },
  run: RunOfTool,
): Promise<VersionedTool | 'needless' | undefined> {
  // What the transaction reads from now on is locked.
  if (isBoundBySettings(run)) await shareSettings(em);
  const rules = await readToolRules(em, run);
  if (rules === null) return 'needless';
  if (rules.pinned) return tools.find(rules.isUsable);
  const others = (await findLiveWorkers(em, { runId: run.id })).filter(({ id }) => id !== workerId);
  const offered = others.filter(isContainedEnough).flatMap((worker) => worker.tools);
  const best = findBest([...tools, ...offered], rules);
  return best && tools.find((tool) => isSame(tool, best));
}

/** The workers that have the best tool for a run among some workers. */
export function keepBestEquipped(workers: readonly LiveWorker[], rules: ToolRules): LiveWorker[] {
  const offered = workers.flatMap(({ tools }) => tools);
  const best = findBest(offered, rules);
  return best ? workers.filter(({ tools }) => tools.some((tool) => isSame(tool, best))) : [];
}

/** The tool that wrote the state, which limits the choice; null for a run that switches to another kind of tool. */
function followedBy({ toolSwitch }: RunOfTool, writer: StateWriter | null): StateWriter | null {
  return toolSwitch && toolSwitch.name !== writer?.name ? null : writer;
}

function findBest(tools: readonly VersionedTool[], rules: ToolRules): VersionedTool | undefined {
  const usable = tools.filter(rules.isUsable);
  return rules.bestOf(usable.filter(rules.knowsOptions)) ?? rules.bestOf(usable);
}

function isSame(one: VersionedTool, other: VersionedTool): boolean {
  return one.name === other.name && one.version === other.version;
}

function describeWanted({ toolDemand }: RunOfTool, writer: StateWriter | null): ToolRules['wanted'] {
  const wanted = toWantedTools(toolDemand ?? Object.fromEntries(toolNames.map((name) => [name, []])));
  const usable = writer ? wanted.filter(({ name }) => name === writer.name) : wanted;
  const min = writer?.version ? `>= ${writer.version}` : '';
  const described = usable.map(({ name, version }) => ({
    name,
    version: version.includes(min) ? version : [version, min].filter((each) => each !== '').join(', '),
  }));
  const isAny = described.length === toolNames.length && described.every(({ version }) => version === '');
  return isAny ? [] : described;
}

/**
 * Whether the tools that the settings allow limit a run. They do not limit a run that already has a plan, because it keeps its tool. Nor do
 * they limit a scan or a destroy, which may use the tool that deployed the instance.
 */
function isBoundBySettings({ tool, operation }: Pick<Run, 'tool' | 'operation'>): boolean {
  return !tool && operation !== 'scan' && operation !== 'destroy';
}

/** The tools that the settings allow a run. Undefined: all. */
async function readAllowedTools(em: Em, run: RunOfTool): Promise<AllowedTools | undefined> {
  return isBoundBySettings(run) ? (await readSettings(em)).document.allowed_tools : undefined;
}
