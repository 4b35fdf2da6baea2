import { option, type SettingsOf } from '../shared/options/index.ts'

/** Options of the JSON body parser. */
export interface JsonOptions {
  /** The largest body: bytes, or a size such as `'100kb'`. Default `'100kb'`; the response to a larger body is 413. */
  sizeLimit?: number | string
  /** How deep arrays and objects may nest. Default 64; the response to deeper nesting is 400. */
  maxDepth?: number
}

export const jsonOptions = option
  .shape({ sizeLimit: option.size().default('100kb'), maxDepth: option.int({ min: 1, max: 1000 }).default(64) })
  .typed<JsonOptions>()

export type JsonSettings = SettingsOf<typeof jsonOptions>

/** The option of one route; `false`: its body is left unread. */
export const jsonOfRoute = option.overrides(jsonOptions)
