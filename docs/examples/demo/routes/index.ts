// Importing a file of routes declares them; every server of this process serves them.
import './books.ts'
import './events.ts'
import './home.ts'
import './loans.ts'
