import { withoutMisleading } from '#domain/shared/values/human-name.ts';
import type { Wording } from '../wording.ts';

/**
 * A message in the format of Slack's incoming webhooks, which other chats imitate. `&`, `<` and `>` are escaped, so that names cannot
 * contain links or mentions.
 */
export function composeChat({ subject, lines, link, reason }: Wording): string {
  const linked = link ? [`<${link.url}|${escapeForChat(link.label)}>`] : [];
  const text = [
    `*${escapeForChat(subject).replaceAll('*', '∗')}*`,
    ...lines.map(escapeForChat),
    ...linked,
    `_${escapeForChat(reason)}_`,
  ];
  return JSON.stringify({ text: text.join('\n') });
}

/**
 * Chats that imitate Slack also know `@all` and Markdown's links. A zero-width space after `@` and `]` keeps names from becoming either.
 */
function escapeForChat(text: string): string {
  const plain = withoutMisleading(text).replaceAll('@', '@\u200b').replaceAll('](', ']\u200b(');
  return plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
