import process from 'node:process'
import { Server } from 'framework'
import { makeApp } from './fixture.mjs'

// Runs the application with the options of the first argument; prints its port as one line of JSON.
const { server, events } = makeApp(Server, JSON.parse(process.argv[2] ?? '{}'), import.meta.filename)
process.on('uncaughtException', (error) => events.push(`uncaughtException ${error?.stack ?? error}`))
process.on('unhandledRejection', (error) => events.push(`unhandledRejection ${error}`))

const { port } = await server.listen()
console.log(JSON.stringify({ port, pid: process.pid }))
