import { type AttemptPhase, logPhaseOf, type RunOperation, type RunTimeouts } from '#domain/shared/vocabulary/runs.ts';
import { maxTokenSeconds } from '../signing-keys/schedule.ts';

/** A resource as claims name it: the id never changes and is never used again, and the slug is for people. */
export interface Named {
  readonly id: string;
  readonly slug: string;
}

/** What a token tells of an attempt. */
export interface AttemptFacts {
  readonly attemptId: string;
  readonly phase: AttemptPhase;
  readonly runId: string;
  readonly operation: RunOperation;
  readonly timeouts: RunTimeouts;
  readonly organization: Named;
  readonly team: Named;
  readonly project: Named;
  readonly environment: Named & { readonly kind: string };
  readonly template: Named & { readonly version: string };
  readonly instance: { readonly id: string; readonly name: string };
}

/**
 * Who acts, as trust policies compare it. It holds ids alone, so nobody inherits trust by taking a slug over, and no slug can contain a part of its own.
 * It has 244 characters at most: AWS allows 255.
 */
export function subjectOf(facts: AttemptFacts): string {
  const { organization, team, project, environment, template } = facts;
  const parts = { organization, team, project, environment, template };
  const ids = Object.entries(parts).map(([name, { id }]) => `${name}:${id}`);
  return [...ids, `phase:${phaseOf(facts)}`].join(':');
}

/** The claims that describe the attempt, beside those that every token has. */
export function claimsOf(facts: AttemptFacts) {
  const { organization, team, project, environment, template, instance } = facts;
  return {
    organization: organization.slug,
    organization_id: organization.id,
    team: team.slug,
    team_id: team.id,
    project: project.slug,
    project_id: project.id,
    environment: environment.slug,
    environment_id: environment.id,
    environment_kind: environment.kind,
    template: template.slug,
    template_id: template.id,
    template_version: template.version,
    instance: instance.name,
    instance_id: instance.id,
    run_id: facts.runId,
    attempt_id: facts.attemptId,
    operation: facts.operation,
    phase: phaseOf(facts),
  };
}

/** Every claim of a token, for the discovery document. */
export const claimNames = [
  ...['iss', 'sub', 'aud', 'iat', 'nbf', 'exp', 'jti'],
  ...['organization', 'team', 'project', 'environment', 'template', 'instance'].flatMap((name) => [name, `${name}_id`]),
  ...['environment_kind', 'template_version', 'run_id', 'attempt_id', 'operation', 'phase'],
];

/** How long the token of an attempt lasts, in seconds: as long as its phase may take, and an hour at most. */
export function lifetimeOf({ phase, timeouts }: Pick<AttemptFacts, 'phase' | 'timeouts'>): number {
  return Math.min(phase === 'planning' ? timeouts.plan : timeouts.apply, maxTokenSeconds);
}

function phaseOf({ operation, phase }: AttemptFacts) {
  return logPhaseOf(operation, phase);
}
