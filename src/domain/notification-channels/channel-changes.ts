import { isDeepStrictEqual } from 'node:util';
import { db } from '#domain/db.ts';
import { forgetFailuresOf } from '#domain/messages/queue/settle-store.ts';
import { refuseBeyondLimit } from '#domain/owners/limit-store.ts';
import type { OwnerIds, RowOwner } from '#domain/owners/owner.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { findDifference, refuseStale } from '#domain/shared/revisions.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { NotificationChannel } from './entity.ts';
import { type ChannelConfig, type ChannelKind, channelSending, type Subscription } from './model.ts';
import { channelSecrets, keepUrl } from './secrets.ts';
import type { ChannelTarget } from './store.ts';
import { findPlacesBelow, readSubscriptions, writeSubscriptions } from './subscriptions-store.ts';

/** The maximum number of channels of an owner, since each notification is sent to all subscribed channels. */
export const maxChannels = 200;

export interface NewChannel {
  readonly name: string;
  readonly kind: ChannelKind;
  readonly config: ChannelConfig;
  readonly isEnabled: boolean;
  readonly subscriptions: readonly Subscription[];
}

/** @throws Invalid if the configuration does not fit the kind */
export function checkConfig(kind: ChannelKind, config: ChannelConfig): void {
  const { destination } = channelSending[kind];
  if (config[destination] === undefined)
    throw new Invalid(`config.${destination}: a channel of the kind ${kind} needs it`);
  for (const [field, value] of Object.entries(config)) {
    if (field !== destination && value !== undefined)
      throw new Invalid(`config.${field}: a channel of the kind ${kind} has none`);
  }
}

/**
 * Creates a channel of an owner, whose row the caller has locked. A webhook channel gets a secret, which is returned once and stored
 * encrypted.
 * @throws Invalid for a configuration of another kind, or a subscription to something that the owner does not own; Conflict for an archived
 * owner, or one that has the maximum number of channels
 */
export async function createChannel(
  { em }: Transaction,
  keyRing: KeyRing,
  owner: RowOwner,
  { config, subscriptions, ...wanted }: NewChannel,
): Promise<{ channel: NotificationChannel; secret: string | null }> {
  refuseArchived(owner);
  checkConfig(wanted.kind, config);
  await refuseBeyondLimit(em, owner, {
    table: 'notification_channels',
    name: 'notification channels',
    max: maxChannels,
  });
  await checkSubscriptions(em, owner.columns, subscriptions);
  const channel = em.create(NotificationChannel, { ...wanted, ...owner.columns, id: newId() });
  configure(keyRing, channel, config);
  const secret = channel.kind === 'webhook' ? channelSecrets.renew(keyRing, channel) : null;
  em.persist(channel);
  await em.flush();
  await writeSubscriptions(em, channel.id, subscriptions);
  return { channel, secret };
}

export interface ChannelUpdate {
  readonly name?: string | undefined;
  readonly config?: ChannelConfig | undefined;
  readonly isEnabled?: boolean | undefined;
  readonly subscriptions?: readonly Subscription[] | undefined;
}

/**
 * Changes the fields that are present of a channel, whose row the caller has locked. Returns the changes without secrets.
 * @throws Invalid for a subscription to something that the owner does not own; Conflict for a stale revision
 */
export async function updateChannel(
  { em }: Transaction,
  keyRing: KeyRing,
  target: ChannelTarget,
  { name, config, isEnabled, subscriptions }: ChannelUpdate,
  expectedRevision: number | undefined,
) {
  const { channel } = target;
  refuseArchived(target);
  refuseStale(channel, expectedRevision);
  const before = await describeChannel(em, channel);
  if (name !== undefined) channel.name = name;
  if (isEnabled !== undefined) channel.isEnabled = isEnabled;
  if (isEnabled) channel.disabledReason = null;
  if (config) {
    checkConfig(channel.kind, config);
    configure(keyRing, channel, config);
    await forgetFailuresOf(em, channel.id);
  }
  if (subscriptions && !isDeepStrictEqual(before.subscriptions, subscriptions)) {
    await checkSubscriptions(em, channel, subscriptions);
    await writeSubscriptions(em, channel.id, subscriptions);
  }
  const described = await describeChannel(em, channel);
  const isMoved = config?.url !== undefined;
  const after = isMoved ? { ...described, config: { ...described.config, url: 'replaced' } } : described;
  const difference = findDifference<Omit<typeof described, 'config'> & { config: object }>(before, after);
  if (!difference.isEmpty) channel.revision += 1;
  await em.flush();
  return difference;
}

/** Gives a channel of the kind `webhook` a new secret. For a day, messages are also signed with the old one. */
export async function rotateChannelSecret(
  { em }: Transaction,
  keyRing: KeyRing,
  target: ChannelTarget,
  expectedRevision: number | undefined,
): Promise<string> {
  const { channel } = target;
  refuseArchived(target);
  refuseStale(channel, expectedRevision);
  const secret = channelSecrets.renew(keyRing, channel);
  channel.revision += 1;
  await em.flush();
  return secret;
}

/** Deletes a channel with its messages. The caller has locked the row. */
export async function deleteChannel(
  { em }: Transaction,
  channel: NotificationChannel,
  expectedRevision: number | undefined,
): Promise<void> {
  refuseStale(channel, expectedRevision);
  await forgetFailuresOf(em, channel.id);
  await db(em).deleteFrom('outgoing_messages').where('channelId', '=', channel.id).execute();
  await em.remove(channel).flush();
}

/** The fields of a channel for the audit: of its address, only the host. */
export async function describeChannel(em: Transaction['em'], channel: NotificationChannel) {
  const { id, name, kind, isEnabled, recipients, host } = channel;
  const config = { recipients: { recipients }, url: { host } }[channelSending[kind].destination];
  return { name, kind, enabled: isEnabled, config, subscriptions: await readSubscriptions(em, id) };
}

function configure(keyRing: KeyRing, channel: NotificationChannel, { recipients, url }: ChannelConfig): void {
  if (recipients) channel.recipients = [...recipients];
  if (url !== undefined) keepUrl(keyRing, channel, url);
}

/** Ids of other owners' things get the same answer as ids that do not exist. */
async function checkSubscriptions(
  em: Transaction['em'],
  owner: OwnerIds,
  subscriptions: readonly Subscription[],
): Promise<void> {
  const teamIds = subscriptions.flatMap(({ teamId }) => teamId ?? []);
  const environmentIds = subscriptions.flatMap(({ environmentId }) => environmentId ?? []);
  const found = await findPlacesBelow(em, owner, { teamIds, environmentIds });
  for (const [index, { teamId, environmentId }] of subscriptions.entries()) {
    const id = teamId ?? environmentId;
    if (id === null || found.has(id)) continue;
    const what = teamId === null ? 'environment' : 'team';
    throw new Invalid(`subscriptions[${index}].${what}_id: the owner of the channel has no such ${what}`);
  }
}
