import MarkdownIt from 'markdown-it';
import { type Html, html, renderTextPart } from './html.ts';

type Token = ReturnType<typeof parser.parse>[number];

/** HTML in the text stays text. Bare addresses do not become links, because readers might follow them without looking where they lead. */
const parser = new MarkdownIt('commonmark', { html: false, linkify: false }).enable(['table', 'strikethrough']);

/** How tokens with content are rendered. Of a token that is not listed, only the content remains. */
const elements: Readonly<Record<string, (content: Html[], token: Token, top: number) => Html>> = {
  paragraph: (content, { hidden }) => (hidden ? html`${content}` : html`<p>${content}</p>`),
  heading: (content, { tag }, top) => renderHeading(content, Math.min(6, Number(tag.slice(1)) + top - 1)),
  blockquote: (content) => html`<blockquote>${content}</blockquote>`,
  bullet_list: (content) => html`<ul>${content}</ul>`,
  ordered_list: (content, token) => html`<ol start="${Number(token.attrGet('start') ?? 1) || 1}">${content}</ol>`,
  list_item: (content) => html`<li>${content}</li>`,
  em: (content) => html`<em>${content}</em>`,
  strong: (content) => html`<strong>${content}</strong>`,
  s: (content) => html`<s>${content}</s>`,
  link: (content, token) => renderLink(content, attribute(token, 'href')),
  table: (content) =>
    html`<div class="scrolled" tabindex="0" role="group" aria-label="Table"><table>${content}</table></div>`,
  thead: (content) => html`<thead>${content}</thead>`,
  tbody: (content) => html`<tbody>${content}</tbody>`,
  tr: (content) => html`<tr>${content}</tr>`,
  th: (content) => html`<th scope="col">${content}</th>`,
  td: (content) => html`<td>${content}</td>`,
};

/** How tokens without content are rendered. */
const leaves: Readonly<Record<string, (token: Token) => Html>> = {
  text: ({ content }) => renderTextPart(content),
  html_block: ({ content }) => html`<p>${content}</p>`,
  html_inline: ({ content }) => renderTextPart(content),
  code_inline: ({ content }) => html`<code>${content}</code>`,
  code_block: ({ content }) => renderCode(content),
  fence: ({ content }) => renderCode(content),
  softbreak: () => html`\n`,
  hardbreak: () => html`<br>`,
  hr: () => html`<hr>`,
  // An image would load something from elsewhere as soon as the page opens, so it becomes a link.
  image: (token) => renderLink([html`${token.content || 'image'}`], attribute(token, 'src')),
};

/**
 * How many marks of a text become markup. Each may become an element, which costs a thousand times as much as a letter. What follows is
 * shown as source. The readme of a large project has some thousands of marks.
 */
const maxMarks = 12_000;
const marks = /[|*_`[\]<>!~#\\&\n-]/g;

/** Splits a text at the end of the line up to which it becomes markup. */
function divide(text: string): { readonly drawn: string; readonly rest: string } {
  let count = 0;
  for (const { index } of text.matchAll(marks)) {
    count += 1;
    if (count <= maxMarks) continue;
    const end = text.lastIndexOf('\n', index) + 1;
    return { drawn: text.slice(0, end), rest: text.slice(end) };
  }
  return { drawn: text, rest: '' };
}

/**
 * Renders Markdown of strangers. HTML in it stays text, and `html` writes every element and escapes all text. Only http, https and mailto
 * links work.
 * @param top the level of the highest heading, so that headings continue those of the page
 */
export function renderMarkdown(text: string, top: number): Html {
  const { drawn, rest } = divide(text);
  return html`<div class="prose foreign">${renderTokens(parser.parse(drawn, {}), top)}${rest === '' ? null : renderRest(rest)}</div>`;
}

function renderRest(text: string): Html {
  return html`<p class="muted">This text has more markup than a page shows. The rest follows as it was written.</p>${renderCode(text)}`;
}

function renderTokens(tokens: readonly Token[], top: number): Html[] {
  const open: { readonly token: Token | null; readonly content: Html[] }[] = [{ token: null, content: [] }];
  for (const token of tokens) {
    if (token.nesting === 1) open.push({ token, content: [] });
    else if (token.nesting === -1) close(open, top);
    else append(open.at(-1)?.content, renderAlone(token, top));
  }
  while (open.length > 1) close(open, top);
  return open[0]?.content ?? [];
}

/** Appends parts one by one, because a long text has more parts than a function can take arguments. */
function append(content: Html[] | undefined, parts: readonly Html[]): void {
  for (const part of parts) content?.push(part);
}

function close(open: { readonly token: Token | null; readonly content: Html[] }[], top: number): void {
  const done = open.pop();
  const around = open.at(-1);
  if (!done?.token || !around) return;
  const element = elements[done.token.type.replace(/_open$/, '')];
  append(around.content, element ? [element(done.content, done.token, top)] : done.content);
}

/** The text of Markdown without its syntax, one line for each paragraph and item, for places with little space. */
export function toPlainText(markdown: string): string {
  const lines: string[] = [];
  let mark = '';
  for (const { type, children, content } of parser.parse(markdown, {})) {
    if (type === 'list_item_open') mark = '– ';
    const text = type === 'inline' ? (children ?? []).map(textOf).join('') : content.trim();
    if (text === '') continue;
    lines.push(`${mark}${text}`);
    mark = '';
  }
  return lines.join('\n');
}

function textOf({ type, content }: Token): string {
  return type === 'softbreak' || type === 'hardbreak' ? ' ' : content;
}

function renderAlone(token: Token, top: number): Html[] {
  if (token.type === 'inline') return renderTokens(token.children ?? [], top);
  const leaf = leaves[token.type];
  return leaf ? [leaf(token)] : [html`${token.content}`];
}

function renderHeading(content: Html[], level: number): Html {
  if (level <= 2) return html`<h2>${content}</h2>`;
  if (level === 3) return html`<h3>${content}</h3>`;
  if (level === 4) return html`<h4>${content}</h4>`;
  return level === 5 ? html`<h5>${content}</h5>` : html`<h6>${content}</h6>`;
}

function renderCode(content: string): Html {
  return html`<pre tabindex="0" role="group" aria-label="Code"><code>${content}</code></pre>`;
}

function renderLink(content: Html[], address: string): Html {
  const isSafe = URL.canParse(address) && /^(?:https?|mailto):$/.test(new URL(address).protocol);
  return isSafe ? html`<a href="${address}" rel="noopener noreferrer nofollow ugc">${content}</a>` : html`${content}`;
}

function attribute(token: Token, name: string): string {
  return String(token.attrGet(name) ?? '');
}
