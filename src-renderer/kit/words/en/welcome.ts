import { createPlural } from '../plural.ts'

const plural = createPlural('en')

export const welcome = {
  title: 'Welcome to Deckhand',
  about: 'Agents that work on your own computer, by your rules. Three short steps, and the first job is running.',
  skip: 'Skip setup',
  step: (at: number, of: number) => `Step ${at} of ${of}`,
  steps: { model: 'Model', agent: 'Agent', job: 'First job' },
  model: {
    title: 'Choose a model',
    about: 'This is where your agents think. You can change it at any time.',
    found: 'Found on this computer',
    foundNote: 'Private and free: nothing leaves this machine.',
    looking: 'Looking for model servers on this computer…',
    use: 'Use',
    modelsOf: (name: string) => `Model of ${name}`,
    noModels: 'It runs, but has no model yet. Load one there, and it appears here.',
    connected: 'Connected',
    key: 'With a key',
    keyNote: 'You pay the provider for what you use. Deckhand shows the cost of every job.',
    other: 'Another server',
    connectTitle: (provider: string) => `Connect ${provider}`,
    chooseOne: (provider: string) => `${provider} is connected. Which model should agents use?`,
    demo: 'Just looking? Try the demo model',
    demoNote: 'Built in, offline, free. It follows a script instead of thinking, but the job it does is real.',
    demoUse: 'Try the demo',
  },
  agent: {
    title: 'Name your first agent',
    about: 'Pick a starter and make it yours. It can read what you allow, and nothing else.',
    starter: 'Starter',
    name: 'Name',
    instructions: 'Instructions',
    instructionsHint: 'What the agent is told before every job.',
    showInstructions: 'Read and change its instructions',
    folder: 'Folder it may read',
    folderHint: 'Its files stay where they are. Without a folder the agent can only talk.',
    sample: 'Use a sample folder',
    pick: 'Choose a folder…',
    change: 'Change…',
    pathPlaceholder: 'Path of a folder, for example /home/me/Documents/notes',
    create: 'Create agent',
    starters: {
      guide: {
        name: 'File guide',
        what: 'Knows its way around a folder: explains what is there and finds things.',
        instructions:
          'You help a person find their way in a folder of theirs. Look before you answer: list what is there, search for what matters, and read the files that seem relevant. Say which file each fact comes from. When something is not in the folder, say so instead of guessing. Keep answers short and easy to scan.',
      },
      notes: {
        name: 'Research notes',
        what: 'Reads your notes and sums them up, with the source of every point.',
        instructions:
          'You turn a folder of notes into answers. Read every note that bears on the question before you write. Group what you find by topic, put the file name behind each point, and point out where notes disagree or are out of date. End with the questions that the notes leave open.',
      },
      editor: {
        name: 'Careful editor',
        what: 'Proofreads drafts: mistakes, unclear sentences, and a better wording.',
        instructions:
          'You proofread texts. Read the whole text first. Then list what you would change, in the order of the text: the line, what is wrong, and the better wording. Tell mistakes from matters of taste, and keep the writer’s voice. Finish with the two changes that would help most.',
      },
    },
  },
  job: {
    title: (agent: string) => `Give ${agent} a first job`,
    about: 'Take a suggestion or write your own. You watch every step, and can stop it at any time.',
    task: 'First job',
    placeholder: 'What should it do?',
    run: 'Run the first job',
    suggestions: 'Suggestions',
    prompts: {
      guide: [
        'Look at my folder and tell me what is in there.',
        'Which files did I work on, and what are they about?',
        'Find everything about money in my files.',
      ],
      notes: [
        'Sum up my notes in ten points, with sources.',
        'Which topics do my notes cover, and where do they disagree?',
        'What questions do my notes leave open?',
      ],
      editor: [
        'List my texts and tell me which one needs the most work.',
        'Proofread the newest draft in my folder.',
        'Find sentences in my texts that are hard to read.',
      ],
      none: ['What can you do for me?', 'Who are you, and how do you work?'],
    },
    running: 'Your first job is running',
    completed: 'That was your first job',
    failed: 'The first job did not work out',
    stopped: 'Stopped',
    home: 'Go to Home',
    details: 'See every step',
    chat: 'Keep talking',
    again: 'Try another one',
    closed: 'You can leave this page: the job goes on.',
    steps: (count: number) => plural(count, { one: '# step', other: '# steps' }),
  },
}
