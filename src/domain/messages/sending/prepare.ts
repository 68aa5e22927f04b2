import type { Em } from '#database/database.ts';
import { notificationKinds } from '#domain/notifications/model.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { MessageContent, Purpose } from '../model.ts';
import type { DueMessage } from '../queue/due-store.ts';
import { openToken } from '../queue/tokens.ts';
import { findInvitationToSend } from './invitation-facts.ts';
import {
  emailConfirmationPath,
  invitationPath,
  passwordResetPath,
  preferencesPath,
  profilePath,
  subjectPath,
} from './links.ts';
import { findMailbox, mayStillRead } from './recipients-store.ts';
import { toSubject, type Wording } from './wording.ts';

/** The mail to send, or the reason why it must not be sent. */
export type Prepared = { readonly to: string; readonly wording: Wording } | { readonly withhold: string };

export interface PrepareDeps {
  readonly em: Em;
  readonly keyRing: KeyRing;
  readonly linkOrigin: string;
}

type ContentOf<P extends Purpose> = Extract<MessageContent, { purpose: P }>;
type Preparations = {
  readonly [P in Purpose]: (deps: PrepareDeps, message: DueMessage, content: ContentOf<P>) => Promise<Prepared>;
};

const preparations: Preparations = {
  notification: prepareNotification,
  invitation: prepareInvitation,
  password_reset: preparePasswordReset,
  email_confirmation: prepareConfirmation,
  email_changed: prepareAddressChange,
};

/** Words a mail for its recipient. It checks again whether the recipient may still receive it. */
export function prepareMail(deps: PrepareDeps, message: DueMessage): Promise<Prepared> {
  const prepare = preparations[message.content.purpose] as Preparations['notification'];
  return prepare(deps, message, message.content as ContentOf<'notification'>);
}

async function prepareNotification(
  { em, linkOrigin }: PrepareDeps,
  message: DueMessage,
  content: ContentOf<'notification'>,
): Promise<Prepared> {
  const mailbox = await findMailbox(em, message.userId);
  if (!mailbox) return { withhold: 'the user is disabled or gone' };
  if (!mailbox.isVerified) return { withhold: 'the address of the user is not confirmed' };
  if (!(await mayStillRead(em, message.id, message.userId)))
    return { withhold: 'the user may not read any more what it is about' };
  return { to: mailbox.address, wording: wordNotification(linkOrigin, message, content) };
}

function wordNotification(
  linkOrigin: string,
  { subjectKind, subjectId }: Pick<DueMessage, 'subjectKind' | 'subjectId'>,
  { kind, title }: ContentOf<'notification'>,
): Wording {
  const path = subjectKind && subjectId ? subjectPath(subjectKind, subjectId) : null;
  return {
    subject: toSubject(title),
    lines: [notificationKinds[kind]],
    link: path === null ? null : { label: 'Open it', url: linkOrigin + path },
    reason: `You chose to hear of this by e-mail. Change it at ${linkOrigin}${preferencesPath}.`,
  };
}

async function prepareInvitation(
  deps: PrepareDeps,
  message: DueMessage,
  content: ContentOf<'invitation'>,
): Promise<Prepared> {
  const invitation = await findInvitationToSend(deps.em, content);
  const token = tokenOf(deps, message);
  if (!invitation || token === null || message.address === null)
    return { withhold: 'the invitation is not open any more, or was sent again' };
  const { inviter, organization, team, expiresAt } = invitation;
  const place = team === null ? organization : `the team ${team} of ${organization}`;
  return {
    to: message.address,
    wording: {
      subject: toSubject(`${inviter} invites you to ${place}`),
      lines: [
        `Sign in as the person with this address and accept by the link, which works once, until ${minuteOf(expiresAt)}.`,
      ],
      link: { label: 'Accept the invitation', url: deps.linkOrigin + invitationPath(token) },
      reason: 'You get this because somebody entered this address. If you do not expect it, do nothing.',
    },
  };
}

function preparePasswordReset(
  deps: PrepareDeps,
  message: DueMessage,
  { expiresAt }: ContentOf<'password_reset'>,
): Promise<Prepared> {
  return prepareLink(deps, message, expiresAt, (token) => ({
    subject: 'Set a new password',
    lines: [
      'An administrator made a link with which you set a new password.',
      `It works once, until ${minuteOf(expiresAt)}. Whoever has it can set your password: do not pass it on.`,
    ],
    link: { label: 'Set a new password', url: deps.linkOrigin + passwordResetPath(token) },
    reason: 'If you did not ask for it, tell your administrator.',
  }));
}

function prepareConfirmation(
  deps: PrepareDeps,
  message: DueMessage,
  { expiresAt }: ContentOf<'email_confirmation'>,
): Promise<Prepared> {
  return prepareLink(deps, message, expiresAt, (token) => ({
    subject: 'Confirm your address',
    lines: [`Confirm that this address is yours. The link works once, until ${minuteOf(expiresAt)}.`],
    link: { label: 'Confirm the address', url: deps.linkOrigin + emailConfirmationPath(token) },
    reason: 'You get this because your account names this address. If you have no account there, do nothing.',
  }));
}

/** Withholds a user's link if it has expired, or if the user has another address than the one that it was made for. */
async function prepareLink(
  deps: PrepareDeps,
  message: DueMessage,
  expiresAt: string,
  word: (token: string) => Wording,
): Promise<Prepared> {
  const mailbox = await findMailbox(deps.em, message.userId);
  if (!mailbox) return { withhold: 'the user is disabled or gone' };
  if (mailbox.key !== message.address) return { withhold: 'the user has another address now' };
  const token = tokenOf(deps, message);
  if (token === null || Date.parse(expiresAt) <= Date.now()) return { withhold: 'the link has expired' };
  return { to: mailbox.address, wording: word(token) };
}

/** Warns the owner of the former address, should somebody else have changed it. */
async function prepareAddressChange({ linkOrigin }: PrepareDeps, { address }: DueMessage): Promise<Prepared> {
  if (address === null) throw new Error('the message names no former address');
  return {
    to: address,
    wording: {
      subject: 'Your account has another address now',
      lines: ['Somebody who was signed in as you, or an administrator, changed the address of your account.'],
      link: { label: 'Open your profile', url: linkOrigin + profilePath },
      reason: 'You get this at your former address. If you did not change it, tell your administrator at once.',
    },
  };
}

function tokenOf({ keyRing }: PrepareDeps, { id, sealedToken }: DueMessage): string | null {
  return sealedToken === null ? null : openToken(keyRing, id, sealedToken);
}

/** A time in UTC to the minute, which everybody reads alike. */
function minuteOf(at: string): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
