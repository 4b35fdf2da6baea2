import type { Json } from '../values/json.ts'

/** A schema that may become a component of the document. */
export interface Part {
  /** The name of its component, if that name is free. */
  readonly name: string
  /** Its direction, where the schema of a validator differs for requests and responses. */
  readonly direction: 'input' | 'output' | undefined
  /** Whether it has a name of its own: then it is always a component. */
  isNamed: boolean
  /** Whether a reference refers to it: then it cannot be inlined. */
  isReferred: boolean
  /** How many places of the document use it. */
  uses: number
  /** The schema in JSON Schema 2020-12, with links instead of references. */
  body: unknown
}

/** A place for a part, with keywords that apply in addition to it. */
export class Link {
  readonly part: Part
  readonly beside: Json | undefined

  constructor(part: Part, beside?: Json) {
    this.part = part
    this.beside = beside
  }
}

/** The address of a part as a string, for a discriminator. */
export class Address {
  readonly part: Part

  constructor(part: Part) {
    this.part = part
  }
}

/** A reference to a component by a name that the application gives it: only at the end is it known whether that exists. */
export class NamedLink {
  readonly name: string
  readonly beside: Json | undefined

  constructor(name: string, beside?: Json) {
    this.name = name
    this.beside = beside
  }
}
