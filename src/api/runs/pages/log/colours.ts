const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;
export type ColourName = (typeof names)[number] | 'grey';

/**
 * The colour of the page that is nearest to one of a terminal. The page has few, each readable on light and on dark: a terminal's own colours
 * are not. Bright and dark ones look the same.
 * @param name a class of anser, such as `ansi-bright-red`, `ansi-palette-208` or `ansi-truecolor`
 * @param rgb "r, g, b" for `ansi-truecolor`
 */
export function nearestColour(name: string, rgb: string | null): ColourName {
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
