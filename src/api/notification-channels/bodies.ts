import { z } from 'zod';
import { namesOneOwner, ownerFields } from '#api/pipeline/owned.ts';
import { Email } from '#domain/identity/model.ts';
import { matchesTopic, topicNames } from '#domain/news/topics.ts';
import { channelKinds, mostPatterns, mostRecipients, mostSubscriptions } from '#domain/notification-channels/model.ts';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { ResourceName } from '#domain/tenancy/model.ts';

const Pattern = z
  .string()
  .max(100)
  .refine((pattern) => topicNames.some((topic) => matchesTopic(pattern, topic)), {
    error: `expected "*", an area such as "run.*", or one of ${topicNames.join(', ')}`,
  });

const Subscription = z
  .strictObject({
    team_id: Id.optional().describe('Only what this team owns.'),
    environment_id: Id.optional().describe('Only what is in this environment.'),
    events: z
      .array(Pattern)
      .min(1)
      .max(mostPatterns)
      .describe(`\`["*"]\` for everything, an area such as \`run.*\`, or names: ${topicNames.join(', ')}.`),
  })
  .refine(({ team_id, environment_id }) => team_id === undefined || environment_id === undefined, {
    error: 'expected a team or an environment, not both',
  });

const Subscriptions = z
  .array(Subscription)
  .max(mostSubscriptions)
  .describe(
    'What the channel hears of: what a team or an environment of its owner owns, or, with neither of them, everything that its owner owns.',
  );

const Config = z
  .strictObject({
    recipients: z
      .array(Email)
      .min(1)
      .max(mostRecipients)
      .refine((all) => new Set(all.map((each) => each.toLowerCase())).size === all.length, 'expected each address once')
      .optional()
      .describe('Of the kind `email`: who gets it.'),
    url: z
      .string()
      .min(1)
      .max(2000)
      .optional()
      .describe(
        'Of the kinds `webhook` and `slack`: an https:// address on the public Internet, unless an operator allows others. It is kept sealed: answers show its host alone.',
      ),
  })
  .describe('Where it sends to.');

export const CreateChannel = z
  .strictObject({
    ...ownerFields,
    name: ResourceName,
    kind: z
      .enum(channelKinds)
      .describe(
        '`email`: to addresses. `webhook`: signed JSON, as Standard Webhooks has it. `slack`: to an incoming webhook of Slack, or of a chat that takes the same.',
      ),
    config: Config,
    enabled: z.boolean().default(true),
    subscriptions: Subscriptions.default([{ events: ['*'] }]),
  })
  .check(namesOneOwner)
  .meta({ id: 'CreateNotificationChannel' });

export const UpdateChannel = z
  .strictObject({
    name: ResourceName.optional(),
    config: Config.optional(),
    enabled: z.boolean().optional(),
    subscriptions: Subscriptions.optional(),
    ...ExpectedRevision,
  })
  .meta({ id: 'UpdateNotificationChannel' });

export const RotateChannel = z.strictObject({ ...ExpectedRevision }).meta({ id: 'RotateNotificationChannel' });

type GivenSubscription = z.output<typeof Subscription>;

export function toSubscriptions(given: readonly GivenSubscription[]) {
  return given.map(({ team_id: teamId = null, environment_id: environmentId = null, events }) => ({
    teamId,
    environmentId,
    events,
  }));
}
