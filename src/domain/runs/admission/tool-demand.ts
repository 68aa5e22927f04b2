import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { writerOf } from '#domain/instances/writer.ts';
import type { PublishedVersion } from '#domain/registry/publication/published.ts';
import { Conflict } from '#domain/shared/errors.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import type { RunOperation } from '#domain/shared/vocabulary/runs.ts';
import {
  type DemandSources,
  intersectDemand,
  isEmptyDemand,
  type StateWriter,
  type ToolDemand,
} from '#domain/tools/demand.ts';
import type { WantedTool } from '#domain/tools/model.ts';
import { findQueued } from './queued-instance.ts';
import type { AdmissionTarget } from './target.ts';

/** What decides which tools a new run may use. */
export interface ToolSources {
  readonly target: Pick<AdmissionTarget, 'templateId' | 'environmentId' | 'tool'>;
  readonly version: Pick<PublishedVersion, 'spec' | 'filesTools'>;
  readonly instance: string;
  readonly operation: RunOperation;
  /** The tool to which the run switches the instance. */
  readonly toolSwitch?: WantedTool | undefined;
}

/**
 * The tools that a new run may use: those that its version, its environment, its instance and the state all allow. A scan and a destroy may
 * always use the tool that wrote the state. Null for commands.
 * @throws Conflict `tool_conflict` naming the contradiction, if no tool can ever fit
 */
export async function readToolDemand(
  em: Em,
  { target, version, instance, operation, toolSwitch }: ToolSources,
): Promise<ToolDemand | null> {
  const { spec, filesTools: files } = version;
  if (spec.executor.kind === 'command') return null;
  const present = (await findQueued(em, target, instance)) ?? (await findInstance(em, target, instance));
  const writer = present ? writerOf(present) : null;
  const ofTemplate = { by: 'template', tool: spec.tool } as const;
  if (operation === 'destroy' || operation === 'scan') return demandOfWriter({ files, wanted: [ofTemplate], writer });
  const asked = [ofTemplate, { by: 'environment', tool: target.tool } as const];
  if (!toolSwitch) {
    const ofInstance = { by: 'instance', tool: present?.wantedTool } as const;
    return requireDemand({ files, wanted: [...asked, ofInstance], writer });
  }
  const wanted = [...asked, { by: 'request', tool: toolSwitch } as const];
  return requireDemand({ files, wanted, writer: writer?.name === toolSwitch.name ? writer : null });
}

/** @throws Conflict `tool_conflict` */
export function requireDemand(sources: DemandSources): ToolDemand {
  const demand = intersectDemand(sources);
  if (!isEmptyDemand(demand)) return demand;
  throw new Conflict(`no tool can run this: ${demand.conflict}`, 'tool_conflict');
}

/** Falls back to the tool that wrote the state if the version now demands another one. */
function demandOfWriter(sources: DemandSources): ToolDemand {
  const demand = intersectDemand(sources);
  if (!isEmptyDemand(demand)) return demand;
  return sources.writer === null ? requireDemand(sources) : toDemand(sources.writer);
}

function toDemand({ name, version }: StateWriter): ToolDemand {
  return { [name]: version === null ? [] : [{ version: `>= ${version}`, by: 'state' }] };
}

interface PresentInstance {
  readonly tool: string | null;
  readonly toolVersion: string | null;
  readonly wantedTool: WantedTool | null;
  readonly stateSerial: number;
  readonly resourceCount: number;
  readonly outputs: MaskedOutputs;
}

function findInstance(
  em: Em,
  { templateId, environmentId }: ToolSources['target'],
  name: string,
): Promise<PresentInstance | undefined> {
  const named = db(em)
    .selectFrom('instances as i')
    .where('i.name', '=', name)
    .where('i.deletedAt', 'is', null)
    .select(['i.tool', 'i.toolVersion', 'i.wantedTool'])
    .select(['i.stateSerial', 'i.resourceCount', 'i.outputs']);
  const placed =
    environmentId === null
      ? named.where('i.environmentId', 'is', null).where('i.templateId', '=', templateId)
      : named.where('i.environmentId', '=', environmentId);
  return placed.executeTakeFirst();
}
