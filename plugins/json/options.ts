import { option, type SettingsOf } from '../shared/options/index.ts'

/** Options of the JSON body parser. */
export interface JsonOptions {
  /** The largest body: bytes, or a size such as `'100kb'`. Default `'100kb'`; a larger body is answered with 413. */
  sizeLimit?: number | string
  /** How deep arrays and objects may nest. Default 64; deeper nesting is answered with 400. */
  maxDepth?: number
}

export const jsonOptions = option
  .shape({ sizeLimit: option.size().default('100kb'), maxDepth: option.int({ min: 1, max: 1000 }).default(64) })
  .typed<JsonOptions>()

export type JsonSettings = SettingsOf<typeof jsonOptions>

/** The option of one route; `false`: its body is left unread. */
export const jsonOfRoute = option.overrides(jsonOptions)
