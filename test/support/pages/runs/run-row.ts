import { createHash } from 'node:crypto';
import type { RequiredEntityData } from '@mikro-orm/core';
import { maskVariables } from '#domain/registry/variables/variables.ts';
import { sealInputs } from '#domain/runs/admission/inputs/inputs.ts';
import type { Run } from '#domain/runs/entity.ts';
import { defaultTimeouts } from '#domain/runs/model.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import type { SeededVersion } from '../catalog/add-templates.ts';
import type { Place } from './places.ts';
import { hasPlan, isFinished, type RunStory, summaryOf, type Timeline } from './stories/story.ts';

/** What a run has from the runs of its instance before it. */
export interface RunPosition {
  readonly position: number;
  readonly version: SeededVersion;
  readonly serialBefore: number;
  /** The serial of the state that it wrote; null if it wrote none. */
  readonly serialAfter: number | null;
  /** The attempt that executes it; null unless one does. */
  readonly attemptId: string | null;
}

/** The row of a run. Its plan's digest is that of its id, so that every plan has its own. */
export function toRunRow(keyRing: KeyRing, story: RunStory, time: Timeline, at: RunPosition): RequiredEntityData<Run> {
  const { id, place, by, status, reached, operation } = story;
  const isPlanned = hasPlan(story);
  const { plan: template, key } = place.template;
  const values: Record<string, JsonValue> = { ...template.example };
  const isUnsuccessful = isFinished(story) && status !== 'succeeded';
  return {
    id,
    idempotencyKey: id,
    status,
    phase: isFinished(story) ? 'finished' : reached,
    statusReason: isUnsuccessful || status === 'canceling' ? story.reason : null,
    statusDetail: status === 'failed' ? detailOf(story) : null,
    waitingOn: waitingOn(story, time),
    operation,
    replace: [],
    ...ownersOf(place),
    instancePosition: at.position,
    templateVersionId: at.version.id,
    templateVersion: at.version.version,
    pool: poolOf(place),
    tool: isPlanned ? toolOf(place) : null,
    variables: maskVariables(template.variables as Record<string, JsonValue>, values),
    sealedInputs: sealInputs(keyRing, id, { variables: values, sensitive: [], environment: [] }),
    message: story.message,
    requestedById: by.id,
    requestedByType: by.kind,
    requestedByName: by.name,
    responsibleUserId: by.responsibleId,
    credentialId: null,
    retrySafe: key === 'release',
    timeouts: defaultTimeouts,
    approvalRequired: place.environment.approval.required,
    approvalWhen: place.environment.approval.when as Run['approvalWhen'],
    approvalAllowSelf: place.environment.approval.allow_self,
    approvalExpiresAt:
      time.approvalAsked === null ? null : new Date(time.approvalAsked + defaultTimeouts.approval * 1000),
    reviewers: story.asked.map(({ id: reviewer, name, kind: type }) => ({ id: reviewer, name, type })),
    planDigest: isPlanned ? digestOfPlan(id) : null,
    planSummary: isPlanned ? summaryOf(story) : null,
    outputs: status === 'succeeded' && operation === 'apply' ? outputsOf(place) : {},
    stateSerialBefore: time.started === null ? null : at.serialBefore,
    stateSerialAfter: at.serialAfter,
    attemptId: at.attemptId,
    isolation: time.started === null ? null : 'sandbox',
    cancelReason: status === 'canceled' || status === 'canceling' ? 'Superseded by a later change.' : null,
    requeuedFrom: story.requeuedFrom,
    revision: 1 + Object.values(time).filter((moment) => moment !== null).length,
    createdAt: new Date(time.admitted),
    startedAt: dateOf(time.started),
    finishedAt: dateOf(time.finished),
  };
}

/** The error that the log of the run ends with. */
function detailOf({ changes, place, reason }: RunStory): Run['statusDetail'] {
  if (reason === 'step_failed')
    return { message: `step "deploy" of ${place.name} ended with exit code 1: cannot reach the host`, source: 'tool' };
  const address = changes.at(-1)?.address ?? 'the resource';
  return {
    message: `creating ${address}: operation error: https response error StatusCode: 403: AccessDenied: no identity-based policy allows it`,
    file: 'modules/this/main.tf',
    line: 41,
    snippet: 'resource "aws_db_instance" "this" {',
    source: 'tool',
  };
}

function ownersOf({ team, environment, template, id, name }: Place) {
  return {
    teamId: team.id,
    projectId: environment.project.id,
    environmentId: environment.id,
    templateId: template.id,
    instanceId: id,
    instance: name,
  };
}

function waitingOn({ waitingOn: wait }: RunStory, { decided, planned, admitted }: Timeline) {
  if (wait === null) return null;
  const since = new Date(planned === null ? admitted : (decided ?? planned)).toISOString();
  return { since: wait.since ?? since, position: null, blocker: null, ...wait };
}

export function poolOf({ template: { plan } }: Place): string {
  const { pool = 'default' } = (plan.more ?? {}) as { pool?: string };
  return pool;
}

export function toolOf({ template: { plan } }: Place) {
  return plan.tool === 'opentofu' ? { name: 'opentofu', version: '1.10.6' } : { name: 'command', version: '1' };
}

export function outputsOf({ template, outputs }: Place): MaskedOutputs {
  const shown = Object.entries(outputs).map(([name, value]): [string, MaskedOutputs[string]] => {
    const sensitive = template.plan.outputs[name]?.sensitive === true;
    return [name, { value: sensitive ? null : value, sensitive }];
  });
  return Object.fromEntries(shown);
}

export function digestOfPlan(runId: string): string {
  return `sha256:${createHash('sha256').update(runId).digest('hex')}`;
}

export function dateOf(milliseconds: number | null): Date | null {
  return milliseconds === null ? null : new Date(milliseconds);
}
