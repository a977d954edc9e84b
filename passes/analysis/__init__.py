"""What holds of affine IR: facts about integers, accesses and dependences that transformations ask for."""
