/** What people should never read: the words that programs exchange. */
/** What is no word of the service: examples in messages, and ids that somebody typed. */
const examples = /id "[0-9a-f-]{36}"|"arn:[^"]*"|"run\.(?:\*|finished)"|\{"[^}]*\}|"spec"/g;

const wireWords: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['a name of the API', /\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b(?![.(])/g],
  ['a path of the API', /(?:\b(?:GET|POST|PUT|PATCH|DELETE) \/|\/api\/v1)\S*/g],
  ['an id', /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g],
  ['a fragment of an id', /(?<!\brun )…[0-9a-f]{6}\b/g],
  ['a format', /\bUUIDs?\b/g],
  ['a part of a request', /\b(?:[Pp]ath|[Qq]uery) parameters?\b|\bIf-Match\b|\b[Tt]he (?:body|query|request body)\b/g],
  ['a type', /\b(?:a string|an integer|an array|an object|a boolean|null|undefined|NaN)\b/g],
  ['a field as programs name it', /\bfields? "[^"]*"|\b[a-z]+\[\d+\]/g],
  ['an id of an operation or a permission', /\b[a-z]+(?:-[a-z]+)*:[a-z-]+\b/g],
  [
    'an id of an operation or a team action',
    /\b(?:team|run|settings|organization|project|environment)\.[a-z]+(?:\.[a-z]+)*\b/g,
  ],
];

/** The words of programs in what a page says about a problem. */
export function findWireWords(text: string): string[] {
  return wireWords.flatMap(([kind, pattern]) =>
    [...text.replace(examples, '').matchAll(pattern)].map(([found]) => `${kind}: ${found}`),
  );
}

/** The sentences in which a page says what is wrong: its notices, or all of an error page. */
export function problemTexts(page: string, status: number): string[] {
  const main = /<main[^>]*>([\s\S]*?)<\/main>/.exec(page)?.[1] ?? page;
  const notices = main.matchAll(
    /<(div|p|span) class="(?:[\w-]+ )*(?:notice-problem|field-problem|tip)"[^>]*>([\s\S]*?)(?:<\/div><\/div>|<\/p>|<\/span>)/g,
  );
  const texts = [...notices].map(([, , content = '']) => textOf(content));
  return texts.length === 0 && status >= 400 ? [textOf(main.replace(/<dl[\s\S]*?<\/dl>/g, ''))] : texts;
}

function textOf(content: string): string {
  return content
    .replace(/<li/g, ' · <li')
    .replace(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim();
}
