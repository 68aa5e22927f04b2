import Anser from 'anser';
import { withColours } from '#domain/runs/log/shown-text.ts';
import { directionControls } from '#domain/shared/values/direction-controls.ts';

const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;
type ColourName = (typeof names)[number] | 'grey';

/**
 * The colour of the page that is nearest to one of a terminal. The page has few, each readable on light and on dark: a terminal's own colours
 * are not. Bright and dark ones look the same.
 * @param name a class of anser, such as `ansi-bright-red`, `ansi-palette-208` or `ansi-truecolor`
 * @param rgb "r, g, b" for `ansi-truecolor`
 */
function nearestColour(name: string, rgb: string | null): ColourName {
  const plain = names.find((each) => name.endsWith(`-${each}`));
  if (plain) return name === 'ansi-bright-black' ? 'grey' : plain;
  const palette = /^ansi-palette-(\d+)$/.exec(name)?.[1];
  return nearestTo(palette === undefined ? (rgb ?? '').split(',').map(Number) : ofPalette(Number(palette)));
}

/** The colour of a number of the palette from 16 on: a cube of 6 × 6 × 6 colours, and 24 greys. */
function ofPalette(index: number): number[] {
  if (index >= 232) return [0, 0, 0].map(() => 8 + (index - 232) * 10);
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
  return [36, 6, 1].map((weight) => level(Math.floor((index - 16) / weight) % 6));
}

/** By hue; a colour without much of one is grey, which is the colour of muted text, or black, which is that of text. */
function nearestTo([red = 0, green = 0, blue = 0]: readonly number[]): ColourName {
  const [low, high] = [Math.min(red, green, blue), Math.max(red, green, blue)];
  if (high - low < 48) return high > 64 && high < 200 ? 'grey' : 'black';
  const middle = (low + high) / 2;
  const bits = (red > middle ? 1 : 0) + (green > middle ? 2 : 0) + (blue > middle ? 4 : 0);
  return names[bits] ?? 'black';
}

/** A piece of a line and the classes that it is shown with. */
export type Span = readonly [text: string, classes: string];

/** A line without any colour is a text alone. */
export type ShownLine = string | readonly Span[];

const maxCharacters = 4000;

/** How a line is shown: its pieces with classes for their colours, and how many of its characters were left out. */
export interface ShownSpans {
  readonly spans: ShownLine;
  readonly cut: number;
  /** How many colours the line had, whether they are shown or not. */
  readonly colours: number;
}

/** How a line is shown. Control characters become visible. @param maxColours how many colours are shown; a usual number unless given */
export function toSpans(line: string, maxColours?: number): ShownSpans {
  const { text, colours } = withColours(line, maxColours);
  const cut = Math.max(0, text.length - maxCharacters);
  const kept = cut > 0 ? withoutHalves(text.slice(0, maxCharacters)) : text;
  if (!kept.includes('\x1b')) return { spans: showControls(kept), cut, colours };
  const entries = Anser.ansiToJson(kept, { use_classes: true, remove_empty: true });
  return { spans: merge(entries.map((entry): Span => [showControls(entry.content), classesOf(entry)])), cut, colours };
}

/** What a cut may leave at the end: half of a character, or the beginning of an escape sequence. */
function withoutHalves(text: string): string {
  return text.replace(/[\ud800-\udbff]$|\x1b\[?[\d;]*$/, '');
}

const controls = new RegExp(`[\\x00-\\x08\\x0a-\\x1f\\x7f-\\x9f\\u2028\\u2029${directionControls}]`, 'g');

/**
 * Control characters as their pictures, such as ␀. Separators of lines would break the line, and controls of direction would turn what the page says
 * beside it.
 */
function showControls(text: string): string {
  return text.replace(controls, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '\u2421' : '\ufffd';
  });
}

/** Shows blinking and hidden text like any other text, so that a log cannot hide anything. */
const shownDecorations = ['bold', 'dim', 'italic', 'underline', 'strikethrough', 'reverse'];

function classesOf({ fg, bg, fg_truecolor, bg_truecolor, decorations }: Anser.AnserJsonEntry): string {
  const given = new Set<string>(decorations);
  return [
    fg ? `ansi-${nearestColour(fg, fg_truecolor)}` : null,
    bg ? `ansi-on ansi-on-${nearestColour(bg, bg_truecolor)}` : null,
    ...shownDecorations.filter((name) => given.has(name)).map((name) => `ansi-${name}`),
  ]
    .filter((name) => name !== null)
    .join(' ');
}

/** Joins neighbours of the same look, and answers a text alone where nothing has a look. */
function merge(spans: readonly Span[]): ShownLine {
  const merged: [string, string][] = [];
  for (const [text, classes] of spans) {
    const last = merged.at(-1);
    if (last?.[1] === classes) last[0] += text;
    else merged.push([text, classes]);
  }
  if (merged.every(([, classes]) => classes === '')) return merged.map(([text]) => text).join('');
  return merged;
}
