import { z } from 'zod';
import { maxIgnoreRules, maxSuppressed, remediationDirections } from '#domain/drift/model.ts';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { ScheduleBody } from '#domain/shared/schedules/schedule-body.ts';
import { maxInteger } from '#domain/shared/values/storable.ts';

/** The bodies of requests about drift (docs/drift.md). */

const places = ['instance_id', 'environment_id', 'template_id'] as const;

export const CreateMonitor = z
  .strictObject({
    instance_id: Id.optional(),
    environment_id: Id.optional().describe('All its instances inherit monitors once they are deployed.'),
    template_id: Id.optional().describe('All instances of the template inherit monitors once they are deployed.'),
    schedule: ScheduleBody,
    enabled: z.boolean().default(true),
  })
  .refine((body) => places.filter((name) => body[name] !== undefined).length === 1, {
    error: `expected exactly one of ${places.slice(0, -1).join(', ')} and ${places.at(-1)}`,
  })
  .meta({ id: 'CreateDriftMonitor' });

export const UpdateMonitor = z
  .strictObject({ schedule: ScheduleBody.optional(), enabled: z.boolean().optional(), ...ExpectedRevision })
  .meta({ id: 'UpdateDriftMonitor' });

const Pattern = z.string().min(1).max(500);

export const IgnoreRuleBody = z.strictObject({
  address: Pattern.describe('Addresses of resources; `*` stands for any characters, also for none.'),
  path: Pattern.default('*').describe('Attributes, such as `tags.*`. `*`: the whole resource.'),
});

export const SetIgnoreRules = z
  .strictObject({ rules: z.array(IgnoreRuleBody).max(maxIgnoreRules), ...ExpectedRevision })
  .meta({ id: 'SetDriftIgnoreRules' });

const Reason = z.string().trim().min(1).max(1000);
const Until = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .describe('When the suppression ends: within a year.');

const Evidence = Id.describe('The evidence that you looked at. If there is newer evidence, the request is refused.');

export const SuppressFinding = z
  .strictObject({ evidence_id: Evidence.optional(), reason: Reason, until: Until })
  .meta({ id: 'SuppressDriftFinding' });

const SeenFinding = z.strictObject({ id: Id, evidence_id: Evidence.optional() });

export const SuppressFindings = z
  .strictObject({
    ids: z.array(Id).min(1).max(maxSuppressed).optional().describe('The findings, whatever their latest evidence is.'),
    findings: z.array(SeenFinding).min(1).max(maxSuppressed).optional().describe('The findings with what you saw.'),
    reason: Reason,
    until: Until,
  })
  .refine(({ ids, findings }) => (ids === undefined) !== (findings === undefined), {
    error: 'expected exactly one of ids and findings',
  })
  .meta({ id: 'SuppressDriftFindings' });

/** The findings in a request, each with the evidence that the sender saw. */
export function namedFindings({ ids, findings }: z.output<typeof SuppressFindings>) {
  return findings ?? (ids ?? []).map((id) => ({ id, evidence_id: undefined }));
}

export const ReopenFinding = z.strictObject({ reason: Reason, ...ExpectedRevision }).meta({ id: 'ReopenDriftFinding' });

export const RemedyFinding = z
  .strictObject({
    evidence_id: Id.describe('The latest evidence of the finding.'),
    expected_revision: z.int().min(1).max(maxInteger).describe("The finding's revision when you decided."),
    direction: z
      .enum(remediationDirections)
      .describe('`revert` applies what was last deployed. `adopt` records the real values in the state.'),
  })
  .meta({ id: 'RemedyDriftFinding' });
