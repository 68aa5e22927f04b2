/** How shells and `env` report a program that they did not find. */
const reports = [
  /(?:^|\s)(?:\S*\/)?(?:ba|da|a|k|z)?sh: (?:line )?(?:\d+: )?(?!command not found)([^\s:]+): (?:command )?not found/m,
  /(?:^|\s)(?:\S*\/)?(?:ba|da|a|k|z)?sh: (?:line )?(?:\d+: )?([^\s:]+): (?:No such file or directory|Permission denied)/m,
  /(?:^|\s)(?:\S*\/)?zsh:(?:\d+:)? command not found: (\S+)/m,
  /(?:^|\s)(?:\S*\/)?env: [‘'"]?([^\s:’'"]+)[’'"]?: (?:No such file or directory|Permission denied)/m,
  /exec: "([^"\n]+)": (?:executable file not found|permission denied)/m,
];

/** The exit codes of a shell whose program does not exist, or cannot be executed. */
export const missingProgramCodes: readonly number[] = [126, 127];

/** Returns the last line with text. */
export function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.trim() ?? '';
}

/** Returns the program that was not found, from what a shell or a tool printed; null if it does not say. */
export function findMissingProgram(text: string): string | null {
  for (const report of reports) {
    const found = report.exec(text)?.[1];
    if (found !== undefined) return found;
  }
  return null;
}
