import type { Json } from '../json.ts'

/** A schema that may become a component of the document. */
export interface Part {
  /** How a component of it is called, as far as the name is free. */
  readonly name: string
  /** For whom it is where a validator says different things of requests and answers. */
  readonly direction: 'input' | 'output' | undefined
  /** Whether it has a name of its own: then it is a component wherever it is used. */
  isNamed: boolean
  /** Whether a reference leads to it: then it cannot stand in place. */
  isReferred: boolean
  /** How many places of the document use it. */
  uses: number
  /** The schema in JSON Schema 2020-12, with links in place of references. */
  body: unknown
}

/** A place where a part belongs, with keywords that hold beside it. */
export class Link {
  readonly part: Part
  readonly beside: Json | undefined

  constructor(part: Part, beside?: Json) {
    this.part = part
    this.beside = beside
  }
}

/** The address of a part as text: what a discriminator names. */
export class Address {
  readonly part: Part

  constructor(part: Part) {
    this.part = part
  }
}

/** A reference to a component that the application names itself: whether there is one is known at the end. */
export class NamedLink {
  readonly name: string
  readonly beside: Json | undefined

  constructor(name: string, beside?: Json) {
    this.name = name
    this.beside = beside
  }
}
