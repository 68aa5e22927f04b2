import { expect, it, test } from 'vitest';
import { type Html, html, renderTextPart } from '#api/web/html.ts';
import { renderMarkdown } from '#api/web/markdown.ts';

const typed = '<a\u202eb';
const inText = '<bdi dir="ltr">&lt;a\ufffdb</bdi>';
const inWords = '\u2066&lt;a\ufffdb\u2069';
const exact = '&lt;a\u202eb';

test.each<[string, Html, string]>([
  ['the text of an element', html`<p>By ${typed} now</p>`, `<p>By ${inText} now</p>`],
  ['a template without an element', html`By ${typed}`, `By ${inText}`],
  ['a list', html`<p>${['x', [typed], html`<b>y</b>`]}</p>`, `<p>x${inText}<b>y</b></p>`],
  [
    'text behind an element and an attribute',
    html`<a href="${'/x'}"><i>${1}</i>${typed}</a>`,
    `<a href="/x"><i>1</i>${inText}</a>`,
  ],
  ['text after a title', html`<title>a</title><p>${typed}</p>`, `<title>a</title><p>${inText}</p>`],
])('text that could reorder its surroundings is wrapped in bdi in %s', (_place, markup, expected) => {
  expect(String(markup)).toBe(expected);
});

test.each<[string, Html, string]>([
  ['a title', html`<title>${'Problem: '}${typed} · x</title>`, `<title>Problem: ${inWords} · x</title>`],
  ['an option', html`<option value="${typed}">${typed}</option>`, `<option value="${exact}">${inWords}</option>`],
  ['a label that is read out', html`<b aria-label="Copy ${typed} now">`, `<b aria-label="Copy ${inWords} now">`],
  ['an attribute alone', html`class="x" title="${typed}"`, `class="x" title="${inWords}"`],
  ['markup in an attribute', html`<b title="${html`the ${typed}`}">`, `<b title="the ${inWords}">`],
  [
    'markup of markup in a title',
    html`<title>${html`x: ${html`the ${typed}`}`}</title>`,
    `<title>x: the ${inWords}</title>`,
  ],
  ['an attribute that is markup in a tag', html`<b ${html`title="${typed}"`}>`, `<b title="${inWords}">`],
])('text that could reorder its surroundings is enclosed by controls in %s', (_place, markup, expected) => {
  expect(String(markup)).toBe(expected);
});

test.each<[string, Html, string]>([
  ['the value of a field', html`<input value="${typed}">`, `<input value="${exact}">`],
  [
    'a text area',
    html`<textarea title="${typed}">\n${typed}</textarea>`,
    `<textarea title="${inWords}">\n${exact}</textarea>`,
  ],
  ['an address', html`<a href="/x?${typed}">x</a>`, `<a href="/x?${exact}">x</a>`],
  ['markup in an address', html`<a href="/x?${html`a=${typed}\u2069`}">x</a>`, `<a href="/x?a=${exact}\u2069">x</a>`],
  [
    'a list of markup in a text area',
    html`<textarea>${[html`a ${typed}`]}</textarea>`,
    `<textarea>a ${exact}</textarea>`,
  ],
])('%s keeps every character', (_place, markup, expected) => {
  expect(String(markup)).toBe(expected);
});

it('text of a promise is isolated, too', async () => {
  expect(String(await html`<p>${Promise.resolve(typed)}</p>`)).toBe(`<p>${inText}</p>`);
  expect(String(await html`<b title="${html`a ${Promise.resolve(typed)}`}">`)).toBe(`<b title="a ${inWords}">`);
});

it('text in Markdown is not isolated, and its bidirectional controls are replaced by visible characters', () => {
  expect(String(renderTextPart('שלום\u2069\u202e'))).toBe('שלום\ufffd\ufffd');
  expect(String(renderMarkdown('שלום **עולם\u202e** a', 2))).toContain('<p>שלום <strong>עולם\ufffd</strong> a</p>');
});
