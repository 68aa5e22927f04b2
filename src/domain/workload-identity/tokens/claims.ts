import { type AttemptPhase, logPhaseOf, type RunOperation, type RunTimeouts } from '#domain/shared/vocabulary/runs.ts';
import { maxTokenSeconds } from '../signing-keys/schedule.ts';

/** A resource that claims name. The id never changes and is never reused; the slug is for people. */
export interface Named {
  readonly id: string;
  readonly slug: string;
}

/** The facts about an attempt that a token contains. */
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
 * The subject that trust policies compare. It contains only ids, so that nobody gains trust by reusing a slug, and no slug can imitate a
 * part of the subject. It has at most 244 characters; AWS allows 255.
 */
export function subjectOf(facts: AttemptFacts): string {
  const { organization, team, project, environment, template } = facts;
  const parts = { organization, team, project, environment, template };
  const ids = Object.entries(parts).map(([name, { id }]) => `${name}:${id}`);
  return [...ids, `phase:${phaseOf(facts)}`].join(':');
}

/** The claims that describe the attempt, in addition to those that every token has. */
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

/** The lifetime of an attempt's token, in seconds: the timeout of its phase, but at most an hour. */
export function lifetimeOf({ phase, timeouts }: Pick<AttemptFacts, 'phase' | 'timeouts'>): number {
  return Math.min(phase === 'planning' ? timeouts.plan : timeouts.apply, maxTokenSeconds);
}

function phaseOf({ operation, phase }: AttemptFacts) {
  return logPhaseOf(operation, phase);
}
