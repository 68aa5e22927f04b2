/** Texts of OpenTofu's language, drawn from a seed: most are valid, with everything that makes it hard to see where a text or a block ends. */
export class Snippets {
  #state: number;
  #count = 0;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** A file of several arguments and blocks, each with a name of its own. Some are broken at one place. */
  file(): string {
    const mark = this.#draw(20) === 0 ? '\uFEFF' : '';
    const text = mark + this.#body(3);
    return this.#draw(3) > 0 ? text : this.#breakAt(text, this.#draw(text.length + 1));
  }

  #breakAt(text: string, at: number): string {
    if (this.#draw(2) === 0) return text.slice(0, at) + text.slice(at + 1);
    return text.slice(0, at) + this.#pick(signs) + text.slice(at);
  }

  #body(depth: number): string {
    return this.#several(4, () => this.#item(depth));
  }

  #item(depth: number): string {
    const name = `n${this.#count++}`;
    switch (this.#draw(8)) {
      case 0:
        return `${name} ${this.#pick(labels)} {\n${this.#body(depth - 1)}}${this.#pick(lineEnds)}`;
      case 1:
        return this.#pick(comments);
      case 2:
        return `${name} { a = ${this.#expression(depth - 1)} }\n`;
      case 3:
        return `${name} {}\n`;
      default:
        return `${name} = ${this.#expression(depth)}${this.#pick(lineEnds)}`;
    }
  }

  #expression(depth: number): string {
    if (depth <= 0) return this.#pick(values);
    const inner = () => this.#expression(depth - 1);
    switch (this.#draw(9)) {
      case 0:
        return `"${this.#several(4, () => this.#textPart(depth - 1))}"`;
      case 1:
      case 2:
        return this.#heredoc(depth - 1);
      case 3:
        return `[${inner()}, ${inner()}]`;
      case 4:
        return `{\n k = ${inner()}\n}`;
      case 5:
        return `f(${inner()})`;
      case 6:
        return `(${inner()})`;
      case 7:
        return `${this.#pick(values)} ${this.#pick(['/* c */', '/* } */', '/* " */', '+ 1'])}`;
      default:
        return this.#pick(values);
    }
  }

  #textPart(depth: number): string {
    const kind = this.#draw(textParts.length + 2);
    if (kind === textParts.length) return `\${${this.#expression(depth)}}`;
    if (kind > textParts.length) return `\${~ ${this.#expression(depth)} ~}`;
    return textParts[kind] ?? '';
  }

  #heredoc(depth: number): string {
    const mark = this.#pick(['EOT', 'E', 'é1', 'A-B']);
    const line = () => {
      const parts = [
        ` ${mark} x`,
        `x${mark}`,
        `\${\n${mark}\n}`,
        `$${mark}`,
        `\${"${mark}"}`,
        `${mark}\${a}`,
        `# ${mark}`,
      ];
      const part = this.#draw(3) === 0 ? `\${${this.#expression(depth)}}` : this.#pick([...parts, ...heredocParts]);
      return part + this.#pick(['\n', '\n', '\r\n']);
    };
    const opening = `<<${this.#pick(['', '-'])}${mark}${this.#pick(['\n', '\n', '\r\n'])}`;
    return `${opening}${this.#several(4, line)}${this.#pick(margins)}${mark}${this.#pick(margins)}\n`;
  }

  #several(limit: number, part: () => string): string {
    return Array.from({ length: 1 + this.#draw(limit) }, part).join('');
  }

  #pick<Item>(items: readonly Item[]): Item {
    const item = items[this.#draw(items.length)];
    if (item === undefined) throw new Error('there is nothing to draw from');
    return item;
  }

  /** An integer from 0 to below the limit, by the generator "mulberry32". */
  #draw(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }
}

const signs = [
  '"',
  '{',
  '}',
  '${',
  '\n',
  '<<E\n',
  '*/',
  '/*',
  '#',
  '\\',
  '\r',
  '~}',
  '%{',
  "'",
  '`',
  ';',
  '\u00A0',
  '=',
];
const labels = ['', '"l"', 'lab', '"a" "b"', '"\\u0041"', '"a$"'];
const lineEnds = ['\n', ' # c\n', ' /* c */\n', '\r\n', ' // "\n'];
const comments = ['# c { "\n', '// c }\n', '/* { " \n <<E */\n', '\n', '\r\n', '\t\n'];
const margins = ['', '  ', '\t', '\u00A0', '\u3000', '\v', '\u0085'];
const heredocParts = ['line', '"', '}', '{', '\\', '$${', '%{ if a }x%{ endif }'];
const textParts = [
  'x',
  '\\"',
  '$',
  '%',
  '$${',
  '%%{',
  '%{ if a }y%{ endif }',
  '{',
  '}',
  '#',
  '\\\\',
  '🙂',
  '\u2028',
  '${/* } */ a}',
];
const values = [
  'a',
  'é',
  'var.x',
  '12',
  '1.5e3',
  '[1, 2]',
  '{ a = 1 }',
  '{\n a = 1\n}',
  '(\n1\n)',
  'x[0].y',
  '[for v in l : v]',
  '"\\n\\"q\\\\"',
  '"$"',
  '"$$"',
  '"$${x}"',
  '"$$${x}"',
  'a ? b : c',
  'a.*.b',
  '"// no"',
  '"/* no */"',
  '"<<EOT"',
  '"{"',
  '"}"',
];
