import type { RequiredEntityData } from '@mikro-orm/core';
import type { Em } from '#database/database.ts';
import { Instance, InstanceResource, StateVersion } from '#domain/instances/entity.ts';
import { outputsContext } from '#domain/instances/seals.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { digestOf } from '#domain/shared/values/digest.ts';
import { idAt } from './ids.ts';
import { addressOf, stateOf } from './infrastructure.ts';
import type { Place } from './places.ts';
import { outputsOf, toolOf } from './run-row.ts';
import { insertAll, type PlacedRun } from './write-runs.ts';

/** Writes the instances as these runs left them: their states, what they hold, and their outputs. */
export async function writeInstances(em: Em, keyRing: KeyRing, runs: readonly PlacedRun[]): Promise<void> {
  const byPlace = Map.groupBy(runs, ({ story }) => story.place);
  const deployed = [...byPlace].map(([place, ofPlace]) => ({ place, runs: ofPlace }));
  await insertAll(
    em,
    Instance,
    deployed.map((each) => toInstanceRow(keyRing, each)),
  );
  await insertAll(
    em,
    StateVersion,
    deployed.flatMap((each) => toStateRows(keyRing, each)),
  );
  await insertAll(em, InstanceResource, deployed.flatMap(toResourceRows));
}

interface Deployed {
  readonly place: Place;
  readonly runs: readonly PlacedRun[];
}

function lastWriter({ runs }: Deployed): PlacedRun | undefined {
  return runs.findLast(({ at }) => at.serialAfter !== null);
}

/** What a run left: nothing after a destroy; a resource more or less as time went by. */
function resourcesAfter({ story, at }: PlacedRun) {
  const { resources } = story.place;
  if (story.operation === 'destroy') return [];
  return (at.serialAfter ?? 1) % 3 === 2 && resources.length > 3 ? resources.slice(0, -1) : resources;
}

function toInstanceRow(keyRing: KeyRing, deployed: Deployed): RequiredEntityData<Instance> {
  const { place, runs } = deployed;
  const last = lastWriter(deployed);
  const isEmpty = !last || last.story.operation === 'destroy';
  const outputs = isEmpty ? {} : outputsOf(place);
  const open = Object.fromEntries(
    Object.entries(place.outputs).map(([name, value]) => [
      name,
      { value, sensitive: outputs[name]?.sensitive ?? false },
    ]),
  );
  return {
    id: place.id,
    teamId: place.team.id,
    environmentId: place.environment.id,
    templateId: place.template.id,
    name: place.name,
    tool: last ? toolOf(place).name : null,
    nextPosition: (runs.at(-1)?.at.position ?? 0) + 1,
    stateSerial: last?.at.serialAfter ?? 0,
    resourceCount: last ? resourcesAfter(last).length : 0,
    resourcesSerial: last?.at.serialAfter ?? 0,
    outputs,
    sealedOutputs: isEmpty ? null : keyRing.sealJson(outputsContext(place.id), open),
    deployedRunId: last?.story.id ?? null,
    createdAt: new Date(place.createdAt),
  };
}

function toStateRows(keyRing: KeyRing, { place, runs }: Deployed): RequiredEntityData<StateVersion>[] {
  return runs.flatMap((run) => {
    const serial = run.at.serialAfter;
    if (serial === null) return [];
    const resources = resourcesAfter(run);
    const content = stateOf(resources, serial, place.outputs);
    const digest = digestOf(content);
    return [
      {
        instanceId: place.id,
        serial,
        runId: run.story.id,
        attemptId: null,
        attemptWrite: null,
        digest,
        size: content.length,
        resourceCount: resources.length,
        content: keyRing.seal(['state', place.id, digest], content),
        createdBy: run.story.by.id,
        createdAt: new Date(run.time.finished ?? run.story.at),
      },
    ];
  });
}

function toResourceRows(deployed: Deployed): RequiredEntityData<InstanceResource>[] {
  const last = lastWriter(deployed);
  if (!last) return [];
  const { place } = deployed;
  return resourcesAfter(last)
    .toReversed()
    .map((resource) => ({
      id: idAt(last.time.finished ?? last.story.at),
      instanceId: place.id,
      teamId: place.team.id,
      address: addressOf(resource),
      module: resource.module,
      type: resource.type,
      name: resource.name,
      provider: `registry.opentofu.org/hashicorp/${resource.type.split('_')[0]}`,
    }));
}
