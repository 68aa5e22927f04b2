/** Keeps Node from opening a debugger on loopback at SIGUSR1. Any user could run code in the process through it. */
export const withoutInspector = '--disable-sigusr1';
