import { describe, expect, it } from 'vitest';
import { RedactingStream, Redactor } from '#domain/shared/redaction/redactor.ts';
import { secretForms } from '#domain/shared/redaction/secret-forms.ts';
import { redacted } from '#domain/shared/values/comparison/marks.ts';
import { DebugLog, maxDebugBytesOfCall } from '#executors/attempt/debug-log.ts';
import { maskSecrets } from '#executors/redaction/masking.ts';

function redactInPieces(redactor: Redactor, text: Buffer, cuts: number[]): string {
  const stream = new RedactingStream(redactor);
  const ends = [...cuts, text.length];
  const pieces = ends.map((end, index) => stream.push(text.subarray(ends[index - 1] ?? 0, end)));
  return Buffer.concat([...pieces, stream.end()]).toString('latin1');
}

function redactorOf(...secrets: string[]): Redactor {
  const redactor = new Redactor();
  for (const secret of secrets) redactor.learn(secret);
  return redactor;
}

describe('a masked value', () => {
  it('keeps all members, with numbered names if secrets in their names would make them equal', () => {
    const redactor = redactorOf('first-secret', 'second-secret');
    const value = { 'first-secret': 1, 'second-secret': 2, __other__: 3, '[redacted] (2)': 4 };
    expect(maskSecrets(value, redactor)).toEqual({
      [redacted]: 1,
      [`${redacted} (3)`]: 2,
      __other__: 3,
      [`${redacted} (2)`]: 4,
    });
  });

  it('with 20,000 members that have secrets in their names is made in little time', () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `secret-${String(index).padStart(8, '0')}`);
    const masked = maskSecrets(Object.fromEntries(names.map((name) => [name, 1])), redactorOf(...names));
    expect(Object.keys(masked as object)).toHaveLength(names.length);
  });
});

describe('redaction', () => {
  it('removes a secret wherever the output is cut, in two pieces and in single bytes', () => {
    const redactor = redactorOf('hunter2-secret');
    const text = Buffer.from('a hunter2-secret b hunter2-sec hunter2-hunter2-secret');
    const expected = `a ${redacted} b hunter2-sec hunter2-${redacted}`;
    for (let cut = 0; cut <= text.length; cut++) expect(redactInPieces(redactor, text, [cut])).toBe(expected);
    const everywhere = Array.from({ length: text.length }, (_, index) => index);
    expect(redactInPieces(redactor, text, everywhere)).toBe(expected);
  });

  it('removes a secret that a tool wraps at its spaces', () => {
    const redactor = redactorOf('correct horse battery staple');
    for (const text of ['correct horse\nbattery staple', 'correct\nhorse\nbattery\nstaple'])
      expect(redactor.redactText(`Error: "${text}"`)).toBe(`Error: "${redacted}"`);
    expect(redactor.redactText('correct horse\nbattery')).toBe('correct horse\nbattery');
  });

  it('removes the rest of a secret that the beginning of a truncated debug log contains', () => {
    const secret = 'a-secret-of-twenty-five';
    const log = new DebugLog(redactorOf(secret));
    const end = Buffer.alloc(maxDebugBytesOfCall, 'x');
    end.write(`${secret.slice(3)}\nsecond line with ${secret}\n`);
    log.add('plan', end);
    const content = log.content()?.toString() ?? '';
    expect(content).not.toContain('secret-of');
    expect(content).toContain(`== plan ==\nsecond line with ${redacted}\n`);
    log.add('apply', Buffer.from('short'));
    expect(log.content()?.toString()).toContain('== apply ==\nshort');
    log.add('apply', Buffer.alloc(maxDebugBytesOfCall, 'y'));
    expect(log.content()?.toString()).not.toContain('yy');
  });

  it('keeps a few hexadecimal digits that could end a dump of the secret, because hashes contain them by chance', () => {
    const secret = `${'s'.repeat(30)}ab`;
    expect(secretForms(secret).every(({ length }) => length >= 8)).toBe(true);
    expect(redactInPieces(redactorOf(secret), Buffer.from('commit 6162ffee'), [])).toBe('commit 6162ffee');
  });

  it('agrees with a simple reference implementation on random texts of few letters', () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % below;
    };
    const word = (length: number) => Array.from({ length }, () => 'ab1'[random(3)]).join('');
    for (let round = 0; round < 300; round++) {
      const secrets = Array.from({ length: 1 + random(3) }, () => word(4 + random(4)));
      const text = word(60);
      const redactor = redactorOf(...secrets);
      const patterns = secrets.flatMap(secretForms).map((form) => form.toString());
      const cuts = [random(60), random(60), random(60)].sort((a, b) => a - b);
      expect(redactInPieces(redactor, Buffer.from(text), cuts)).toBe(redactSlowly(text, patterns));
    }
  });

  it('holds back only what may be the beginning of a secret', () => {
    const stream = new RedactingStream(redactorOf('topsecret'));
    expect(stream.push(Buffer.from('password: tops')).toString()).toBe('password: ');
    expect(stream.push(Buffer.from('oil\n')).toString()).toBe('topsoil\n');
  });

  it('does twice the work for a secret of twice as many lines, wherever the output is cut', () => {
    const workFor = (lines: number) => {
      const secret = Array.from({ length: lines }, (_, line) => `line ${line} of the secret`).join('\n');
      const stream = new RedactingStream(redactorOf(secret));
      const printed = Buffer.from(`${secret.slice(0, -1)}?${secret}\n`);
      const pieces: Buffer[] = [];
      for (let at = 0; at < printed.length; at += 20) pieces.push(stream.push(printed.subarray(at, at + 20)));
      pieces.push(stream.end());
      expect(Buffer.concat(pieces).toString()).not.toContain('of the secret');
      return stream.work;
    };
    const [one, two] = [workFor(1000), workFor(2000)];
    expect(two / one).toBeLessThan(2.2);
  });

  it('removes all of a secret even if it learns another secret within that one meanwhile', () => {
    const redactor = redactorOf('first-secret', 'ret-and-more');
    const stream = new RedactingStream(redactor);
    let text = stream.push(Buffer.from('a first-secret')).toString();
    redactor.learn('re-and');
    redactor.learn('-sec');
    text += stream.push(Buffer.from(' b')).toString() + stream.end().toString();
    expect(text).toBe(`a ${redacted} b`);
  });

  it('uses little memory when a secret overlaps itself endlessly', () => {
    const stream = new RedactingStream(redactorOf('aaaa'));
    let printed = stream.push(Buffer.alloc(1024 * 1024, 'a')).length;
    for (let round = 0; round < 20; round++) printed += stream.push(Buffer.alloc(64 * 1024, 'a')).length;
    printed += stream.end().length;
    expect(printed).toBe(redacted.length);
  });

  it.each([
    ['as JSON', 'pass"word\\é<', (text: string) => JSON.stringify(text)],
    [
      "as OpenTofu's JSON",
      'pa&ss<word',
      (text: string) => JSON.stringify(text).replace('<', '\\u003c').replace('&', '\\u0026'),
    ],
    ['URL-encoded', 'p@ss word/ö', encodeURIComponent],
    ['URL-encoded as a form', 'p@ss word/ö', (text: string) => String(new URLSearchParams({ a: text }))],
    ['in base64', 'hunter2!', (text: string) => Buffer.from(text).toString('base64')],
    ['in base64 after a user name', 'hunter2!', (text: string) => Buffer.from(`me:${text}`).toString('base64')],
    ['in base64 between other text', 'hunter2!', (text: string) => Buffer.from(`user:${text}@host`).toString('base64')],
    ['in base64url', '??>>~~secret', (text: string) => Buffer.from(text).toString('base64url')],
    ['in lowercase hex', 'hunter2!', (text: string) => Buffer.from(text).toString('hex')],
    ['in uppercase hex', 'hunter2!', (text: string) => Buffer.from(text).toString('hex').toUpperCase()],
    ['in hex with spaces', 'hunter2!', (text: string) => pairsOf(text).join(' ')],
    ['in hex with colons', 'hünter2', (text: string) => pairsOf(text).join(':').toUpperCase()],
    ['as JSON inside JSON', 'pass"word\\é<', (text: string) => JSON.stringify(JSON.stringify({ text }))],
    ['as JSON with escaped slashes', 'a/b"c', (text: string) => JSON.stringify(text).replaceAll('/', '\\/')],
    [
      'in a path of a URL',
      'p@ss:word/$1',
      (text: string) => encodeURIComponent(text).replace(/%(40|3A|24)/g, decodeURIComponent),
    ],
    ['URL-encoded strictly', "it's (me)~*!", strictUrl],
    ['as a whole form', "it's (me)~*!", (text: string) => String(new URLSearchParams({ a: text }))],
    ['in double quotes of a shell', 'pa$$ "w`rd`', (text: string) => `"${text.replace(/["$`\\]/g, '\\$&')}"`],
    ['quoted by printf %q', "it's $1 & so", (text: string) => text.replace(/[ '$&]/g, '\\$&')],
    ['quoted by Python for a shell', "it's secret", (text: string) => `'${text.replaceAll("'", `'"'"'`)}'`],
    ['quoted for SQL or YAML', "it's secret", (text: string) => `'${text.replaceAll("'", "''")}'`],
    ['in HTML as Python escapes it', `a<b>&"c'd`, (text: string) => xmlOf(text).replaceAll('&#39;', '&#x27;')],
    [
      'in HTML as Go escapes it',
      `a<b>&"c'd+e`,
      (text: string) => xmlOf(text).replaceAll('&quot;', '&#34;').replaceAll('+', '&#43;'),
    ],
    ['in HTML as PHP escapes it', `a<b>&"c'd`, (text: string) => xmlOf(text).replaceAll('&#39;', '&#039;')],
    ['in HTML within HTML', `a<b>&"c'd`, (text: string) => xmlOf(xmlOf(text))],
    ['in JSON within HTML', `a<b>&"c\\d`, (text: string) => xmlOf(JSON.stringify(text))],
    ['in HTML within JSON', `a<b>&"c\\d`, (text: string) => JSON.stringify(xmlOf(text).replaceAll('&quot;', '"'))],
    ['by repr', `it's "p\\w" é😀`, (text: string) => pythonRepr(text)],
    ['by repr within repr', `it's "p\\w" é`, (text: string) => pythonRepr(pythonRepr(text).slice(1, -1))],
    ['by repr within JSON', `it's "p\\w" é`, (text: string) => JSON.stringify(pythonRepr(text).slice(1, -1))],
    ['by repr of its bytes', 'hünter€2', (text: string) => bytesRepr(text)],
    ['URL-encoded twice', 'p@ss word/ö', (text: string) => encodeURIComponent(encodeURIComponent(text))],
    ['in JSON in a URL', 'p@ss"word/ö', (text: string) => encodeURIComponent(JSON.stringify(text))],
    ['in XML', `a<b>&"c'd`, (text: string) => xmlOf(text)],
    ['quoted for a shell', "it's secret", (text: string) => `'${text.replaceAll("'", "'\\''")}'`],
  ])('finds a secret %s', (_, secret, encode) => {
    const shown = redactorOf(secret).redactText(`<${encode(secret)}>`);
    expect(shown).toContain(redacted);
    const longest = Math.max(
      ...encode(secret)
        .split(redacted)
        .map((rest) => rest.length),
    );
    expect(shown.length).toBeLessThan(longest + redacted.length + 8);
  });

  it.each([
    ['NUL', 'hun\0ter\x002-se\0cret'],
    ['backspaces and carriage returns', 'hunter2\b-sec\rret'],
    ['colours', 'hun\x1b[01;31m\x1b[Kter2\x1b[m\x1b[K-secret'],
    ['a colour at each end', '\x1b[1mhunter2-secret\x1b[0m'],
  ])('finds a secret that %s interrupt, wherever the output is cut', (_, broken) => {
    const redactor = redactorOf('hunter2-secret');
    const whole = redactor.redactText(`a ${broken} b`);
    expect(whole).toMatch(/^a (?:\x1b\[1m)?\[redacted\](?:\x1b\[0m)? b$/);
    const bytes = Buffer.from(`a ${broken} b`);
    for (let cut = 0; cut <= bytes.length; cut++) expect(redactInPieces(redactor, bytes, [cut])).toBe(whole);
  });

  it.each([
    ['control characters above ASCII', 'hunter2\u0085-secret'],
    ['characters without a width', 'hun\u200bter2-\u2060secret'],
    ['very many control characters', `hunter2${'\0'.repeat(500)}-secret`],
    ['movements of the cursor', 'hunter2\x1b[1C-secret'],
  ])('finds a secret that %s interrupt in a name or message', (_, broken) => {
    expect(redactorOf('hunter2-secret').redactText(`a ${broken} b`)).toBe(`a ${redacted} b`);
  });

  it('keeps control characters and colours that interrupt no secret', () => {
    const text = Buffer.from('\x1b[32mok\x1b[0m hunt\r\x1b[31\0 \x1b(B \x1b]0;title\x07 hunter2-s');
    expect(redactInPieces(redactorOf('hunter2-secret'), text, [])).toBe(text.toString('latin1'));
    for (let cut = 0; cut <= text.length; cut++)
      expect(redactInPieces(redactorOf('hunter2-secret'), text, [cut])).toBe(text.toString('latin1'));
  });

  it('finds a secret that contains control characters itself', () => {
    const secret = 'first\x07part\r\nsecond';
    expect(redactorOf(secret).redactText(`<${secret}> ${JSON.stringify('first\x07part')}`)).toBe(
      `<${redacted}> "${redacted}"`,
    );
  });

  it('does twice the work for twice as many control characters in a secret', () => {
    const workFor = (length: number) => {
      const secret = 'a'.repeat(length);
      const printed = Buffer.from(`${'a\0'.repeat(2 * length)}b`);
      const stream = new RedactingStream(redactorOf(secret));
      const pieces: Buffer[] = [];
      for (let at = 0; at < printed.length; at += 100) pieces.push(stream.push(printed.subarray(at, at + 100)));
      pieces.push(stream.end());
      expect(Buffer.concat(pieces).toString('latin1').replaceAll('\0', '')).toBe(`${redacted}b`);
      return stream.work;
    };
    expect(workFor(8000) / workFor(4000)).toBeLessThan(2.2);
  });

  it('finds a secret in the name of a member', () => {
    const redactor = redactorOf('hunter2-secret');
    expect(redactor.contains({ list: [{ 'key of hunter2-secret': 1 }] })).toBe(true);
    expect(redactor.contains({ list: [{ key: 1 }] })).toBe(false);
  });

  it('finds every encoding wherever the output is cut', () => {
    const secret = 'Hunter2/ü+?';
    const bytes = Buffer.from(secret);
    const encoded = [
      bytes.toString('hex'),
      bytes.toString('hex').toUpperCase(),
      ...['', 'x', 'xy'].flatMap((before) => [
        Buffer.from(`${before}${secret}~~~`).toString('base64'),
        Buffer.from(`${before}${secret}~~~`).toString('base64url'),
      ]),
      encodeURIComponent(secret),
      JSON.stringify(secret),
    ];
    for (const text of encoded) {
      const whole = redactorOf(secret).redactText(text);
      expect(whole, text).toContain(redacted);
      expect(whole.replace(redacted, '').length, text).toBeLessThan(12);
      for (let cut = 0; cut <= text.length; cut++)
        expect(redactInPieces(redactorOf(secret), Buffer.from(text), [cut])).toBe(whole);
    }
  });

  it('finds a long secret that a tool encodes in several lines', () => {
    const secret = Array.from({ length: 60 }, (_, index) => `part-${index}`).join('.');
    const bytes = Buffer.from(secret);
    for (const [encoded, width] of [
      [bytes.toString('base64'), 76],
      [bytes.toString('base64'), 64],
      [bytes.toString('hex'), 60],
    ] as const) {
      const lines = encoded.match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
      const shown = redactorOf(secret).redactText(lines.join('\n  '));
      expect(shown.replaceAll(redacted, '').trim().length).toBeLessThan(lines.length * 3 + 8);
    }
  });

  it('finds each line of a multi-line secret, however it is indented', () => {
    const key = '-----BEGIN KEY-----\nMIIBVgIBADANBg\nkqhkiG9w0BAQEF\n-----END KEY-----\n';
    const shown = redactorOf(key).redactText('      MIIBVgIBADANBg\r\n  + kqhkiG9w0BAQEF');
    expect(shown).toBe(`      ${redacted}\r\n  + ${redacted}`);
  });

  it('treats every leaf of a secret object as a secret, except texts shorter than four characters', () => {
    const redactor = new Redactor();
    redactor.learn({ user: 'admin-user', pin: 123456, short: 'abc', list: ['in-a-list', true, null] });
    expect(redactor.redactText('admin-user 123456 abc in-a-list true null')).toBe(
      `${redacted} ${redacted} abc ${redacted} true null`,
    );
  });

  it('applies a secret that it learns later to the bytes that it still holds back', () => {
    const redactor = redactorOf('first-secret');
    const stream = new RedactingStream(redactor);
    const before = stream.push(Buffer.from('one firs')).toString();
    redactor.learn('firsthand');
    const after = Buffer.concat([stream.push(Buffer.from('thand two')), stream.end()]).toString();
    expect(before + after).toBe(`one ${redacted} two`);
  });

  it('passes NUL and malformed UTF-8 unchanged', () => {
    const stream = new RedactingStream(redactorOf('secret-value'));
    const bytes = Buffer.from([0, 0xff, 0xc3, 0x28, 0x80]);
    expect(Buffer.concat([stream.push(bytes), stream.end()])).toEqual(bytes);
  });
});

function pairsOf(text: string): string[] {
  return Buffer.from(text).toString('hex').match(/../g) ?? [];
}

/** As Python writes it where nothing but ASCII is printed: `ascii()`, and `repr` in most logs. */
function pythonRepr(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
  const printed = escaped.replace(/[^\x20-\x7e]/gu, (sign) => {
    const digits = (sign.codePointAt(0) ?? 0).toString(16);
    if (digits.length <= 2) return `\\x${digits.padStart(2, '0')}`;
    return digits.length <= 4 ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
  });
  return `'${printed}'`;
}

function bytesRepr(text: string): string {
  const printed = [...Buffer.from(text)].map((byte) =>
    byte < 0x80 ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`,
  );
  return `b'${printed.join('')}'`;
}

function strictUrl(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*~]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
}

function xmlOf(text: string): string {
  const signs: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replace(/[&<>"']/g, (sign) => signs[sign] ?? sign);
}

function redactSlowly(text: string, patterns: string[]): string {
  const spans: [number, number][] = [];
  for (let end = 1; end <= text.length; end++) {
    const longest = Math.max(0, ...patterns.filter((p) => text.slice(0, end).endsWith(p)).map((p) => p.length));
    if (longest === 0) continue;
    let start = end - longest;
    for (let last = spans.at(-1); last && last[1] > start; last = spans.at(-1)) {
      start = Math.min(start, last[0]);
      spans.pop();
    }
    spans.push([start, end]);
  }
  let shown = '';
  let position = 0;
  for (const [start, end] of spans) {
    shown += text.slice(position, start) + redacted;
    position = end;
  }
  return shown + text.slice(position);
}
