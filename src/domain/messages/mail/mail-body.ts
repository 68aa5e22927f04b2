import { withoutMisleading } from '#domain/shared/values/human-name.ts';
import { escapeMarkup } from '#domain/shared/values/text.ts';
import type { Wording } from '../wording.ts';

/** The two forms of a mail. They contain names only as text, never as markup or as links. */
export function composeBody(wording: Wording): { text: string; html: string } {
  return { text: toText(wording), html: toHtml(wording) };
}

function toText({ subject, lines, link, reason }: Wording): string {
  const linked = link ? [`${link.label}:\n${link.url}`] : [];
  return `${[subject, ...lines.map(withoutMisleading), ...linked, `-- \n${withoutMisleading(reason)}`].join('\n\n')}\n`;
}

const font = "font-family: system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const button =
  'display: inline-block; padding: 10px 18px; border-radius: 6px; background-color: #0b5cad; color: #ffffff; text-decoration: none; font-weight: 600';

/**
 * Mail programs support few styles, and many drop style sheets, so each element has its own styles. The address follows the button, for
 * programs that show no button. Every text is escaped where it is inserted.
 */
function toHtml({ subject, lines, link, reason }: Wording): string {
  const title = escapeMarkup(subject);
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light"><title>${title}</title></head>
<body style="margin: 0; padding: 24px 12px; background-color: #f6f7f9; ${font}; font-size: 15px; line-height: 1.5; color: #1b1f24">
<div role="article" lang="en" style="max-width: 560px; margin: 0 auto; padding: 24px; background-color: #ffffff; border: 1px solid #d8dee4; border-radius: 8px">
<h1 style="margin: 0 0 16px; font-size: 18px; line-height: 1.35; overflow-wrap: anywhere">${title}</h1>
${lines.map(toParagraph).join('\n')}
${link ? toLink(link) : ''}
<hr style="border: 0; border-top: 1px solid #d8dee4; margin: 24px 0 12px">
<p style="margin: 0; font-size: 12px; color: #57606a; overflow-wrap: anywhere">${escapeMarkup(withoutMisleading(reason))}</p>
</div>
</body>
</html>
`;
}

function toParagraph(line: string): string {
  return `<p style="margin: 0 0 16px">${escapeMarkup(withoutMisleading(line))}</p>`;
}

function toLink({ label, url }: NonNullable<Wording['link']>): string {
  const address = escapeMarkup(url);
  return `<p style="margin: 24px 0"><a href="${address}" style="${button}">${escapeMarkup(label)}</a></p>
<p style="margin: 0 0 16px; font-size: 13px; color: #57606a; overflow-wrap: anywhere">${address}</p>`;
}
