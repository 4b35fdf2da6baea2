import { readFile } from 'node:fs/promises'

// The build puts this module into a folder of its own, and copies the files of pages.
const plugins = new URL(import.meta.url.includes('/chunks/') ? '../plugins/' : '../../', import.meta.url)

/** Reads a script or a style of a page, by its path below `plugins/`. */
export const pageFile = (path: string): Promise<string> => readFile(new URL(path, plugins), 'utf8')
