import { z } from 'zod';
import { namesOneOwner, ownerFields } from '#api/pipeline/owned.ts';
import { publishAs } from '#api/pipeline/published.ts';
import { Email } from '#domain/identity/model.ts';
import { topicNames } from '#domain/news/model.ts';
import { matchesTopic } from '#domain/news/topics.ts';
import {
  type ChannelKind,
  channelKinds,
  maxPatterns,
  maxRecipients,
  maxSubscriptions,
} from '#domain/notification-channels/model.ts';
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
      .max(maxPatterns)
      .describe(`\`["*"]\` for everything, an area such as \`run.*\`, or names: ${topicNames.join(', ')}.`),
  })
  .refine(({ team_id, environment_id }) => team_id === undefined || environment_id === undefined, {
    error: 'expected a team or an environment, not both',
  });

const Subscriptions = z
  .array(Subscription)
  .max(maxSubscriptions)
  .describe(
    'What the channel hears of: what a team or an environment of its owner owns, or, with neither of them, everything that its owner owns.',
  );

const Recipients = z
  .array(Email)
  .min(1)
  .max(maxRecipients)
  .refine((all) => new Set(all.map((each) => each.toLowerCase())).size === all.length, 'expected each address once')
  .describe('Of the kind `email`: who gets it.');
const Url = z
  .string()
  .min(1)
  .max(2000)
  .describe(
    'Of the kinds `webhook` and `slack`: an https:// address on the public Internet, unless an operator allows others. It is kept sealed: answers show its host alone.',
  );

const Config = z.strictObject({ recipients: Recipients.optional(), url: Url.optional() });

/** The config of each kind, for the description of the API. The rules of channels check which one a kind needs. */
const EmailConfig = z.strictObject({ recipients: Recipients }).meta({ id: 'EmailChannelConfig' });
const UrlConfig = z.strictObject({ url: Url }).meta({ id: 'UrlChannelConfig' });
const configs = { email: EmailConfig, webhook: UrlConfig, slack: UrlConfig } as const;

const kindWords: Readonly<Record<ChannelKind, string>> = {
  email: 'To addresses.',
  webhook: 'Signed JSON, as Standard Webhooks has it.',
  slack: 'To an incoming webhook of Slack, or of a chat that takes the same.',
};

const created = {
  ...ownerFields,
  name: ResourceName,
  enabled: z.boolean().default(true),
  subscriptions: Subscriptions.default([{ events: ['*'] }]),
};

function describeCreation<Kind extends ChannelKind>(kind: Kind, id: string) {
  const described = { kind: z.literal(kind).describe(kindWords[kind]), config: configs[kind] };
  return z.strictObject({ ...created, ...described }).meta({ id });
}

const DescribedCreation = z
  .discriminatedUnion('kind', [
    describeCreation('email', 'CreateEmailChannel'),
    describeCreation('webhook', 'CreateWebhookChannel'),
    describeCreation('slack', 'CreateSlackChannel'),
  ])
  .meta({ id: 'CreateNotificationChannel' });

export const CreateChannel = publishAs(
  z.strictObject({ ...created, kind: z.enum(channelKinds), config: Config }).check(namesOneOwner),
  DescribedCreation,
);

const changed = {
  name: ResourceName.optional(),
  enabled: z.boolean().optional(),
  subscriptions: Subscriptions.optional(),
  ...ExpectedRevision,
};

export const UpdateChannel = publishAs(
  z.strictObject({ ...changed, config: Config.optional() }),
  z
    .strictObject({
      ...changed,
      config: z
        .union([EmailConfig, UrlConfig])
        .meta({ id: 'ChannelConfig', description: 'Where it sends to, as its kind has it.' })
        .optional(),
    })
    .meta({ id: 'UpdateNotificationChannel' }),
);

export const RotateChannel = z.strictObject({ ...ExpectedRevision }).meta({ id: 'RotateNotificationChannel' });

type GivenSubscription = z.output<typeof Subscription>;

export function toSubscriptions(given: readonly GivenSubscription[]) {
  return given.map(({ team_id: teamId = null, environment_id: environmentId = null, events }) => ({
    teamId,
    environmentId,
    events,
  }));
}
