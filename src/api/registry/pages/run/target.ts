import { get as getEnvironment } from '#api/environments/operations.ts';
import { type Inherited, type InheritedValues, readInherited } from '#api/environments/pages/inherited.ts';
import { createRun } from '#api/runs/operations.ts';
import {
  noneChoice,
  optionalEnvironmentField,
  readEnvironmentChoices,
} from '#api/tenancy/pages/environment-choices.ts';
import type { Choices } from '#api/web/forms/fields/choices.ts';
import { readChoice } from '#api/web/forms/named-choices.ts';
import { toSentence } from '#api/web/text.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { loadVersionById } from '#domain/registry/publication/published.ts';
import { findRotatedSince } from '#domain/runs/admission/inputs/rotated.ts';
import { findSecretsOfOthersIn } from '#domain/runs/admission/inputs/secret-givers.ts';
import { readToolDemand } from '#domain/runs/admission/tool-demand.ts';
import { readSettings } from '#domain/settings/store.ts';
import { isToolAllowed } from '#domain/settings/tools.ts';
import { Conflict } from '#domain/shared/errors.ts';
import type { JsonObject } from '#domain/shared/values/json.ts';
import type { RunOperation } from '#domain/shared/vocabulary/runs.ts';
import { bestMeant, meetsDemand, type ToolDemand, toWantedTools } from '#domain/tools/demand.ts';
import type { VersionedTool, WantedTool } from '#domain/tools/model.ts';
import type { ShownFit } from '../../worker-fit.ts';
import type { ShownTemplate, ShownVersion } from '../views.ts';
import type { DeployedFacts, RunFormVisit, SourceRun } from './deployed.ts';

/** The environment of the form's run. */
interface TargetEnvironment {
  readonly environments: Choices;
  /** Empty: in no environment, or in an unknown one. */
  readonly environmentId: string;
  /** Whether the visitor chose an environment, or explicitly chose none. */
  readonly isKnown: boolean;
  /** For variables whose default does not apply when they are left empty: what applies instead. */
  readonly inherited: InheritedValues;
  /** Why the choice is not possible, or why the run cannot run in its environment again; null if it can. */
  readonly problem: string | null;
}

/** The subject of the form. */
interface Subject {
  readonly template: ShownTemplate;
  readonly source: SourceRun | null;
  readonly deployed: DeployedFacts | null;
}

/**
 * Reads the environment of the form's run. `typed` is the choice in the form or in the address. A run that is copied or deployed again
 * stays in its environment.
 */
export async function readTargetEnvironment(
  visit: RunFormVisit,
  { template, source, deployed }: Subject,
  typed = '',
): Promise<TargetEnvironment> {
  const isFixed = Boolean(source ?? deployed);
  const fixed = (source ? source.environment_id : deployed?.environmentId) || noneChoice;
  const text = isFixed ? fixed : typed;
  const teamId = template.team_id ?? visit.scope.teamId;
  const environments = await readEnvironmentChoices(visit, {
    teamId,
    alsoId: text,
    ...(!isFixed && { operation: createRun }),
  });
  const chosen = isFixed ? { value: text } : await readChoice(visit, optionalEnvironmentField(environments), text);
  const withoutEnvironment = { environments, environmentId: '', inherited: new Map<string, Inherited>() };
  if ('problem' in chosen) return { ...withoutEnvironment, isKnown: false, problem: toSentence(chosen.problem) };
  const { value } = chosen;
  if (value === '' || value === noneChoice)
    return { ...withoutEnvironment, isKnown: value !== '' || environments.choices.length === 0, problem: null };
  const inherited = await readInherited(visit, value);
  return inherited
    ? { environments, environmentId: value, inherited, isKnown: true, problem: null }
    : { ...withoutEnvironment, isKnown: false, problem: isFixed ? fixedEnvironmentLost : unknownEnvironment };
}

const unknownEnvironment = "It doesn't exist, or you may not have access to it. Choose another one.";
const fixedEnvironmentLost =
  "The environment doesn't exist any more, or you may not have access to it, so this cannot run there again. Run the template anew, in another environment.";

/** The secrets of a run whose values in its environment have changed. The visitor may read both. */
export async function findRotatedSecrets(
  { em, context, principal }: Visit,
  repeated: { readonly run: SourceRun } | null,
  environmentId: string,
  schema: JsonObject,
): Promise<string[]> {
  if (!repeated || environmentId === '' || repeated.run.environment_id !== environmentId) return [];
  return findRotatedSince(em, context.services, { runId: repeated.run.id, environmentId, schema }, principal);
}

/**
 * The secrets of a run that another person entered. The visitor may read the run.
 * @param withOutputs also secrets that come from an output
 */
export async function findSecretsOfOthers(
  { em, context, principal }: Visit,
  repeated: SourceRun | null,
  withOutputs: boolean,
): Promise<string[]> {
  if (!repeated) return [];
  return findSecretsOfOthersIn(em, context.services.keyRing, { runId: repeated.id, withOutputs }, principal);
}

/** The target of the form's run. */
interface Place {
  /** Empty: outside of any environment. */
  readonly environmentId: string;
  /** The name of its instance. */
  readonly name: string;
  readonly operation: string | undefined;
}

/**
 * Finds the workers that could execute the form's run now, considering everything that limits its tool: version, environment, instance and
 * state. Null: its steps need no tool, the pool is hidden, or admission would refuse the run.
 */
export async function readFitOfRun(
  visit: RunFormVisit,
  version: ShownVersion | null,
  place: Place,
): Promise<ShownFit | null> {
  if (!version?.workers) return null;
  const { offered } = version.workers;
  const demand = await readDemand(visit, version, place);
  if (demand === null) return null;
  const { document: settings } = await readSettings(visit.em);
  const mayUse = (tool: VersionedTool) => place.operation === 'destroy' || isToolAllowed(settings.allowed_tools, tool);
  const usable = offered.filter((tool) => meetsDemand(demand, tool) && mayUse(tool));
  const best = bestMeant(demand, usable);
  return {
    ...version.workers,
    wanted: toWantedTools(demand),
    tool: best ? { name: best.name, version: best.version } : null,
    workers: best?.workers ?? 0,
  };
}

async function readDemand(
  visit: RunFormVisit,
  { id }: ShownVersion,
  { environmentId, name: instance, operation }: Place,
): Promise<ToolDemand | null> {
  const [version, environment] = await Promise.all([
    loadVersionById(visit.em, id),
    environmentId ? orNull(visit.read(getEnvironment, { params: { id: environmentId } })) : null,
  ]);
  // The demand of an instance in an environment would reveal its tool to a visitor who may not read the environment.
  if (environmentId && !environment) return null;
  const tool = (environment?.tool ?? null) as WantedTool | null;
  const target = { templateId: visit.params.id, environmentId: environmentId || null, tool };
  const asked = { target, version, instance, operation: (operation ?? 'apply') as RunOperation };
  return readToolDemand(visit.em, asked).catch((error: unknown) => {
    if (error instanceof Conflict) return null;
    throw error;
  });
}
