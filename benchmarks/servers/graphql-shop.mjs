// The schema of all GraphQL servers: 10 shops with 10 items each, every item with its owner. Three levels, with a
// function on the last one, as if the owner were looked up.

export const typeDefs = `
  type Query { hello: String! shops: [Shop!]! }
  type Shop { id: ID! name: String! items: [Item!]! }
  type Item { id: ID! title: String! price: Float! owner: Owner! }
  type Owner { id: ID! name: String! email: String! }
`

const owners = Array.from({ length: 10 }, (_, i) => ({
  id: `o${i}`,
  name: `Owner ${i}`,
  email: `owner${i}@example.com`,
}))
const shops = Array.from({ length: 10 }, (_, s) => ({
  id: `s${s}`,
  name: `Shop ${s}`,
  items: Array.from({ length: 10 }, (_, i) => ({
    id: `i${s}-${i}`,
    title: `Item ${i} of shop ${s}`,
    price: 9.5 + i,
    ownerId: (s + i) % 10,
  })),
}))

export const resolvers = {
  Query: { hello: () => 'world', shops: () => shops },
  Item: { owner: (/** @type {{ ownerId: number }} */ item) => owners[item.ownerId] },
}
