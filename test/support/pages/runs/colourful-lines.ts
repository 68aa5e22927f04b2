import { failureLines } from './log-lines.ts';

const csi = '\u001b[';
const group = 'module.pools.aws_eks_node_group.this["general"]';

/** What colourful tools print: the palette, styles, progress that returns to the start of its line, and an error. */
export function colourfulLines(): string[] {
  const palette = Array.from({ length: 16 }, (_, index) => {
    const code = index < 8 ? 30 + index : 82 + index;
    return `${csi}${code}mcolour ${index}${csi}0m`;
  });
  const styles = { 1: 'bold', 3: 'italic', 4: 'underlined', 9: 'struck', 7: 'inverse' };
  const styled = Object.entries(styles).map(([code, word]) => `${csi}${code}m${word}${csi}0m`);
  const shades = `${csi}38;5;208m256 colours${csi}0m ${csi}38;2;200;80;160mtrue colour${csi}0m`;
  const progress = Array.from({ length: 20 }, (_, index) => `Downloading ${index * 5} %`).join('\r');
  const steps = Array.from({ length: 200 }, (_, index) => {
    const [minutes, seconds] = [Math.floor(index / 6), (index % 6) * 10];
    return `${group}: Still modifying... [${minutes}m${seconds}s elapsed]`;
  });
  const error = failureLines(group, 'apply_failed');
  return [
    ...palette,
    styled.join(' '),
    shades,
    `${progress}\rDownloading done`,
    ...steps,
    ...error,
    ...steps.slice(0, 40),
  ];
}
