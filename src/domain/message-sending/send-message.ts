import type { Em } from '#database/database.ts';
import { composeChat } from '#domain/messages/http/chat-text.ts';
import { postJson } from '#domain/messages/http/post.ts';
import { composeBody } from '#domain/messages/mail/mail-body.ts';
import type { MailServer } from '#domain/messages/mail/mail-server.ts';
import type { MessageContent, Purpose } from '#domain/messages/model.ts';
import { noMailServer, SendingFailure } from '#domain/messages/sending-failure.ts';
import type { Wording } from '#domain/messages/wording.ts';
import type { NotificationKind, SubjectKind, Topic } from '#domain/news/model.ts';
import { channelMessageType, type channelTest } from '#domain/news/topics.ts';
import type { OutboundHttp } from '#domain/shared/outbound/outbound-http.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { signedHeaders } from '#domain/shared/signing/signed-headers.ts';

/** The destination of a message, with the secrets for sending to it. */
export type Recipient =
  | { readonly medium: 'email'; readonly address: string }
  | { readonly medium: 'chat'; readonly url: string }
  | { readonly medium: 'webhook'; readonly url: string; readonly secrets: readonly string[] };

/** The part of a message for programs; people read its wording. */
export interface News {
  readonly kind: NotificationKind | Topic | typeof channelTest;
  readonly subject: { readonly kind: SubjectKind; readonly id: string } | null;
}

export interface SendDeps {
  readonly http: OutboundHttp;
  /** Null: this installation sends no e-mail. */
  readonly mail: MailServer | null;
}

interface OutgoingMessage {
  /** The id of the message, which stays the same when it is sent again. */
  readonly id: string;
  readonly to: Recipient;
  readonly wording: Wording;
  /** Null for a message to one person, which no program reads. */
  readonly news: News | null;
}

/** Sends a message once. @throws SendingFailure unless it was accepted */
export async function sendMessage({ http, mail }: SendDeps, { id, to, wording, news }: OutgoingMessage): Promise<void> {
  if (to.medium === 'chat') return postJson(http, to.url, composeChat(wording));
  if (to.medium === 'webhook') {
    if (!news) throw new Error('a message to one person cannot go to a webhook');
    const timestamp = Math.floor(Date.now() / 1000);
    const body = composeJson(wording, news, timestamp);
    return postJson(http, to.url, body, signedHeaders({ id: `msg_${id}`, timestamp, body }, to.secrets));
  }
  if (!mail) throw new SendingFailure(noMailServer);
  await mail.send({ id, to: [to.address], subject: wording.subject, ...composeBody(wording) });
}

/**
 * The types of these messages differ from those of webhooks, because their content is worded for people. The OpenAPI document describes
 * both.
 */
function composeJson({ subject: title, lines, link }: Wording, news: News, timestamp: number): string {
  return JSON.stringify({
    type: channelMessageType(news.kind),
    timestamp: new Date(timestamp * 1000).toISOString(),
    data: { title, text: lines.join('\n'), subject: news.subject, url: link?.url ?? null },
  });
}

/** The message to send, or the reason why it must not be sent. */
export type Prepared =
  | { readonly to: Recipient; readonly wording: Wording; readonly news?: News }
  | { readonly withhold: string };

export interface PrepareDeps {
  readonly em: Em;
  readonly keyRing: KeyRing;
  /** The origin of links in messages; null if `COORDINATOR_BASE_URL` is not set. */
  readonly linkOrigin: string | null;
}

export type ContentOf<P extends Purpose> = Extract<MessageContent, { purpose: P }>;
