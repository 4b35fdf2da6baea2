import type { Server } from 'framework'

/** Builds the application; `file` is what `/file` answers with. */
export function makeApp(
  ServerClass: typeof Server,
  options: Record<string, unknown>,
  file: string,
): { server: Server; events: string[] }
